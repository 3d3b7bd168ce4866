"""Static pages of an installation: templates, what each page shows, and the folder that they are written to."""
