"""Whether the laws notice: deliberate faults, each put into a copy of the checkout, must break a law."""
