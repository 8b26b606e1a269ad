// Command reindex serves POST /v1/reindex and GET /v1/reindex/{run} as an AWS Lambda function behind a function URL.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambdaurl"

	"porchlight/functions/internal/app"
	"porchlight/functions/internal/pdf"
)

func main() {
	if !pdf.Child(os.Args, os.Stdin, os.Stdout) {
		lambdaurl.Start(app.Start(context.Background()).Reindex)
	}
}
