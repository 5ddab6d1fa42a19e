package orders

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
)

// control is the control listener of a cluster. A control that only reads is a GET, every other one a POST with a JSON object.
type control struct {
	t       *testing.T
	address string
}

func newControl(t *testing.T) control {
	return control{t, os.Getenv("ODRADEK_CONTROL")}
}

func (control control) get(path string, result any) {
	control.t.Helper()
	response, err := http.Get("http://" + control.address + path)
	control.read(response, err, result)
}

func (control control) post(path string, parameters map[string]any, result any) {
	control.t.Helper()
	body, err := json.Marshal(parameters)
	if err != nil {
		control.t.Fatal(err)
	}
	response, err := http.Post("http://"+control.address+path, "application/json", bytes.NewReader(body))
	control.read(response, err, result)
}

func (control control) read(response *http.Response, err error, result any) {
	control.t.Helper()
	if err != nil {
		control.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		control.t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		control.t.Fatalf("%s: %s", response.Status, body)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(body, result); err != nil {
		control.t.Fatal(err)
	}
}
