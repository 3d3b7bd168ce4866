"""S3 and stores that speak its language, through botocore."""
