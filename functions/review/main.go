// Command review serves the /v1/review routes as an AWS Lambda function behind a function URL.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambdaurl"

	"porchlight/functions/internal/app"
)

func main() {
	lambdaurl.Start(app.Start(context.Background()).Review)
}
