module partita/dynamo-checks

go 1.24

require (
	github.com/aws/aws-sdk-go-v2 v1.47.5
	github.com/aws/aws-sdk-go-v2/credentials v1.20.13
	github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue v1.21.17
	github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression v1.10.5
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.72.3
)

require (
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.8 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.8 // indirect
	github.com/aws/aws-sdk-go-v2/service/dynamodbstreams v1.46.4 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.23 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.8 // indirect
	github.com/aws/smithy-go v1.28.7 // indirect
)
