"""What one machine needs to run on the stand-ins for AWS's managed stores."""
