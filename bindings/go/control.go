package odradek

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Control calls the controls of a cluster over HTTP. Its methods return an *Error if the cluster
// refuses what they ask. They may be called by several goroutines.
type Control struct {
	// Address is the host and port of the control listener.
	Address string
}

// Error is the answer of a cluster that refuses a control (RFC 9457).
type Error struct {
	// Status is 400 for an invalid argument, 409 for what the cluster refuses, and 504 for a
	// condition that did not become true in time.
	Status int `json:"status"`

	// Detail is the message.
	Detail string `json:"detail"`

	// Parameter is the name of the invalid argument, if there is one.
	Parameter string `json:"parameter"`

	// Code is the name of Kafka's error code, if there is one.
	Code string `json:"code"`
}

func (problem *Error) Error() string {
	return "odradek: " + problem.Detail
}

type arguments map[string]any

// optional returns the options that were given, at most one struct.
func optional[T any](options []T) any {
	if len(options) == 0 {
		return nil
	}
	return options[0]
}

func (control *Control) get(path string, required arguments, options, result any) error {
	fields, err := merged(required, options)
	if err != nil {
		return err
	}
	query := url.Values{}
	for name, value := range fields {
		for _, item := range items(value) {
			query.Add(name, item)
		}
	}
	request, err := http.NewRequest(http.MethodGet, "http://"+control.Address+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	return send(request, result)
}

func (control *Control) post(path string, required arguments, options, result any) error {
	fields, err := merged(required, options)
	if err != nil {
		return err
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+control.Address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return send(request, result)
}

// merged returns the JSON values of all arguments by name.
func merged(required arguments, options any) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for _, part := range []any{options, values(required)} {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, err
		}
		if fields == nil { // of the text null
			fields = map[string]json.RawMessage{}
		}
	}
	return fields, nil
}

// items returns the texts with which a JSON value is written in a query: one for each item of a list.
func items(value json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var texts []string
		for _, item := range list {
			texts = append(texts, items(item)...)
		}
		return texts
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return []string{text}
	}
	return []string{string(value)}
}

func send(request *http.Request, result any) error {
	if token := os.Getenv("ODRADEK_CONTROL_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("odradek: the cluster does not answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("odradek: the cluster does not answer: %w", err)
	}
	if response.StatusCode >= 300 {
		problem := &Error{Status: response.StatusCode, Detail: strings.TrimSpace(string(body))}
		_ = json.Unmarshal(body, problem)
		return problem
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(body, result)
}
