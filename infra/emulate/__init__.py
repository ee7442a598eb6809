"""The three stacks on an emulator of AWS, on loopback: what CloudFormation makes of the templates."""
