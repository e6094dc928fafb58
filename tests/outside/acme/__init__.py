"""A package of a user of distrax, who has classes of their own."""
