// Command reindex serves POST /v1/reindex and GET /v1/reindex/{run} as an AWS Lambda function behind a function URL.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambdaurl"

	"porchlight/functions/internal/app"
)

func main() {
	lambdaurl.Start(app.Start(context.Background()).Reindex)
}
