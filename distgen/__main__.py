"""`python -m distgen`."""

from distgen.cli import main

if __name__ == "__main__":
    main()
