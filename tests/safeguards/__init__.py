"""Each safeguard against what only Lambda, API Gateway and CodeDeploy do, taken out, and the test that then fails."""
