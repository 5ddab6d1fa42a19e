package odradek

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Ptr returns a pointer to a value, for the fields of options.
func Ptr[T any](value T) *T {
	return &value
}

// Bytes is a key, a value or the value of a header. It is nil where Kafka has null.
type Bytes []byte

// String returns the bytes as text.
func (data Bytes) String() string {
	return string(data)
}

// MarshalJSON returns a string for UTF-8, otherwise an object with the bytes in base64.
func (data Bytes) MarshalJSON() ([]byte, error) {
	if data == nil {
		return []byte("null"), nil
	}
	if utf8.Valid(data) {
		return json.Marshal(string(data))
	}
	return json.Marshal(map[string][]byte{"base64": data})
}

// UnmarshalJSON reads the forms that MarshalJSON writes.
func (data *Bytes) UnmarshalJSON(text []byte) error {
	var binary struct {
		Base64 []byte `json:"base64"`
	}
	if json.Unmarshal(text, &binary) == nil {
		*data = binary.Base64
		return nil
	}
	var value string
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*data = Bytes(value)
	return nil
}

// Header is a header of a record.
type Header struct {
	Name  string
	Value Bytes
}

// UnmarshalJSON reads a pair of name and value.
func (header *Header) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a header has a name and a value, not %s", text)
	}
	if err := json.Unmarshal(pair[0], &header.Name); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &header.Value)
}

// Duration is a duration among the fields of options.
type Duration time.Duration

// MarshalJSON returns the number of seconds.
func (duration Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(duration).Seconds())
}

// Values returns records that have these values and neither keys nor headers.
func Values(values ...string) []NewRecord {
	records := make([]NewRecord, len(values))
	for index, value := range values {
		records[index].Value = Bytes(value)
	}
	return records
}

// values returns the arguments as JSON has them.
func values(required arguments) arguments {
	encoded := arguments{}
	for name, value := range required {
		if duration, isDuration := value.(time.Duration); isDuration {
			value = Duration(duration)
		}
		encoded[name] = value
	}
	return encoded
}
