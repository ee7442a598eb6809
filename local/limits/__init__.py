"""What Lambda, API Gateway and CloudWatch do beyond calling a function, so that a stage holds no surprise."""
