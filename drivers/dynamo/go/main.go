// The common scenario through the AWS SDK for Go v2. Prints `ok NAME`, `FAIL NAME: why`.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type order struct {
	Customer string            `dynamodbav:"pk"`
	Number   int               `dynamodbav:"sk"`
	Tags     []string          `dynamodbav:"tags,stringset,omitempty"`
	Lines    map[string]int    `dynamodbav:"lines,omitempty"`
	Raw      []byte            `dynamodbav:"raw,omitempty"`
	Status   string            `dynamodbav:"status,omitempty"`
	Extra    map[string]string `dynamodbav:"extra,omitempty"`
}

var (
	ctx    = context.Background()
	table  = env("DYNAMO_PREFIX", "go") + "_orders"
	client = dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("DYNAMO_ENDPOINT")), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(env("DYNAMO_KEY", "local"), env("DYNAMO_SECRET", "local"), ""),
	})
)

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("%v is not %v", found, expected))
	}
}

func key(pk string, sk int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(sk)}}
}

func item(o order) map[string]types.AttributeValue {
	marshalled, err := attributevalue.MarshalMap(o)
	must(err)
	return marshalled
}

var checks = []struct {
	name string
	run  func()
}{
	{"a_table_is_created", func() {
		_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName: &table, BillingMode: types.BillingModePayPerRequest,
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
				{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS}},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("by_status"),
				KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}},
		})
		must(err)
		must(dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &table}, time.Minute))
	}},
	{"structs_come_back", func() {
		put := order{"acme", 1, []string{"a", "b"}, map[string]int{"bolt": 4}, []byte{0, 255}, "open", map[string]string{"k": "v"}}
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item(put)})
		must(err)
		answer, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key("acme", 1), ConsistentRead: aws.Bool(true)})
		must(err)
		var found order
		must(attributevalue.UnmarshalMap(answer.Item, &found))
		equal(found, put)
	}},
	{"a_condition_that_fails_is_typed_and_brings_the_item", func() {
		condition, err := expression.NewBuilder().WithCondition(expression.AttributeNotExists(expression.Name("pk"))).Build()
		must(err)
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item(order{Customer: "acme", Number: 1}), ConditionExpression: condition.Condition(),
			ExpressionAttributeNames: condition.Names(), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			panic(fmt.Sprint("not refused: ", err))
		}
		equal(failed.Item["status"], &types.AttributeValueMemberS{Value: "open"})
	}},
	{"updates_return_what_changed", func() {
		update, err := expression.NewBuilder().WithUpdate(expression.Set(expression.Name("lines.nut"), expression.Value(7)).Remove(expression.Name("raw"))).Build()
		must(err)
		answer, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: key("acme", 1), UpdateExpression: update.Update(),
			ExpressionAttributeNames: update.Names(), ExpressionAttributeValues: update.Values(), ReturnValues: types.ReturnValueAllNew})
		must(err)
		var found order
		must(attributevalue.UnmarshalMap(answer.Attributes, &found))
		equal(found.Lines, map[string]int{"bolt": 4, "nut": 7})
		equal(len(found.Raw), 0)
	}},
	{"queries_page", func() {
		var writes []types.WriteRequest
		for n := 0; n < 25; n++ {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(order{Customer: "zeta", Number: n, Status: map[bool]string{true: "open"}[n%5 == 0]})}})
		}
		answer, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
		must(err)
		equal(len(answer.UnprocessedItems), 0)
		query, err := expression.NewBuilder().WithKeyCondition(expression.Key("pk").Equal(expression.Value("zeta")).And(expression.Key("sk").LessThan(expression.Value(20)))).Build()
		must(err)
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: query.KeyCondition(), ExpressionAttributeNames: query.Names(),
			ExpressionAttributeValues: query.Values(), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(6)})
		var numbers []int
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			must(err)
			var found []order
			must(attributevalue.UnmarshalListOfMaps(page.Items, &found))
			for _, o := range found {
				numbers = append(numbers, o.Number)
			}
		}
		equal(len(numbers), 20)
		equal([]int{numbers[0], numbers[19]}, []int{19, 0})
		index, err := client.Query(ctx, &dynamodb.QueryInput{TableName: &table, IndexName: aws.String("by_status"), KeyConditionExpression: aws.String("#s = :s"),
			ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "open"}}, Select: types.SelectCount})
		must(err)
		equal(index.Count, int32(6))
	}},
	{"transactions_are_cancelled_with_reasons", func() {
		put := func(n int, condition *string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item(order{Customer: "t", Number: n}), ConditionExpression: condition}}
		}
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put(1, nil), put(2, nil)}})
		must(err)
		_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put(3, nil), put(1, aws.String("attribute_not_exists(pk)"))}})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			panic(fmt.Sprint("not cancelled: ", err))
		}
		equal([]string{*cancelled.CancellationReasons[0].Code, *cancelled.CancellationReasons[1].Code}, []string{"None", "ConditionalCheckFailed"})
		answer, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: &table, Key: key("t", 3)}}}})
		must(err)
		equal(len(answer.Responses[0].Item), 0)
	}},
	{"the_table_is_deleted", func() {
		_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
		must(err)
		must(dynamodb.NewTableNotExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &table}, time.Minute))
	}},
}

func main() {
	failed := false
	for _, check := range checks {
		if !strings.Contains(check.name, os.Getenv("CHECK")) {
			continue
		}
		func() {
			defer func() {
				if why := recover(); why != nil {
					failed = true
					fmt.Printf("FAIL %s: %v\n", check.name, why)
				} else {
					fmt.Println("ok", check.name)
				}
			}()
			check.run()
		}()
	}
	if failed {
		os.Exit(1)
	}
}
