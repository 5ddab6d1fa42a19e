package odradek

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 120 * time.Second
	stopTimeout  = 10 * time.Second
	lookInterval = 500 * time.Millisecond
	keptBytes    = 16 << 10
)

// parent is the id of the process that has started this one.
var parent = os.Getppid()

// process is a running `odradek serve`. It ends when its standard input does, which the system
// closes even if this program is killed.
type process struct {
	command *exec.Cmd
	input   io.Closer
	errors  *tail
	control *Control
	stopped chan struct{}
}

// program returns the words with which odradek is started.
func program() ([]string, error) {
	if named := os.Getenv("ODRADEK"); strings.HasSuffix(named, ".pyz") {
		return []string{"python3", named}, nil
	} else if named != "" {
		return []string{named}, nil
	}
	if found, err := exec.LookPath("odradek"); err == nil {
		return []string{found}, nil
	}
	if python, err := exec.LookPath("python3"); err == nil {
		return []string{python, "-m", "odradek"}, nil
	}
	return nil, errors.New("odradek is not on the PATH: install it, or set ODRADEK to the path of the program")
}

func startProcess(arguments []string) (*process, error) {
	words, err := program()
	if err != nil {
		return nil, err
	}
	words = append(words, "serve", "--port", "0", "--control", "127.0.0.1:0", "--quiet", "--exit-with-parent")
	started := &process{command: exec.Command(words[0], append(words[1:], arguments...)...), errors: &tail{}, stopped: make(chan struct{})}
	started.command.Stderr = started.errors
	input, err := started.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := started.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := started.command.Start(); err != nil {
		return nil, fmt.Errorf("odradek cannot be started: %w", err)
	}
	started.input = input
	address, err := started.waitUntilReady(output)
	if err != nil {
		started.stop()
		return nil, fmt.Errorf("%w\n%s", err, started.errors)
	}
	started.control = &Control{Address: address}
	if isBelowGoTest() {
		go started.endWithGoTest()
	}
	return started, nil
}

// isBelowGoTest tells whether `go test` has started this program: only go sets this flag. Another
// parent, such as a shell, may end earlier than its program.
func isBelowGoTest() bool {
	set := flag.Lookup("test.paniconexit0")
	return set != nil && set.Value.String() == "true"
}

// endWithGoTest closes the input of the process when `go test` has been killed, because the system
// lets the program that go has started run on.
func (process *process) endWithGoTest() {
	looks := time.NewTicker(lookInterval)
	defer looks.Stop()
	for {
		select {
		case <-process.stopped:
			return
		case <-looks.C:
			if os.Getppid() != parent {
				process.input.Close()
				return
			}
		}
	}
}

// waitUntilReady returns the address of the control listener, which is the second line.
func (process *process) waitUntilReady(output io.Reader) (string, error) {
	address := make(chan string, 1)
	go func() {
		defer close(address)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if found, isControl := strings.CutPrefix(lines.Text(), "control="); isControl {
				address <- found
			}
		}
	}()
	select {
	case found := <-address:
		if found == "" {
			return "", errors.New("odradek has ended before it was ready")
		}
		return found, nil
	case <-time.After(startTimeout):
		return "", fmt.Errorf("odradek was not ready after %s", startTimeout)
	}
}

func (process *process) stop() {
	close(process.stopped)
	process.input.Close()
	late := time.AfterFunc(stopTimeout, func() { process.command.Process.Kill() })
	defer late.Stop()
	process.command.Wait()
}

// tail keeps the last bytes that are written to it.
type tail struct {
	lock sync.Mutex
	text []byte
}

func (tail *tail) Write(data []byte) (int, error) {
	tail.lock.Lock()
	defer tail.lock.Unlock()
	tail.text = append(tail.text, data...)
	tail.text = tail.text[max(0, len(tail.text)-keptBytes):]
	return len(data), nil
}

func (tail *tail) String() string {
	tail.lock.Lock()
	defer tail.lock.Unlock()
	return string(tail.text)
}
