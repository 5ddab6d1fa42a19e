package odradek

import (
	"fmt"
	"strings"
)

// report returns what happened on the cluster since the beginning of the test: the story of the
// requests, groups with their lag, faults with their hits, and the doctor's findings.
func (kafka *Cluster) report() string {
	lines := []string{"what happened on the cluster " + kafka.BootstrapServers + " in this test:"}
	for _, part := range []func() ([]string, error){kafka.story, kafka.groups, kafka.faults, kafka.findings} {
		found, err := part()
		if err != nil {
			found = []string{fmt.Sprintf("(a part of the report cannot be made: %s)", err)}
		}
		lines = append(lines, found...)
	}
	return strings.Join(lines, "\n")
}

func (kafka *Cluster) story() ([]string, error) {
	text, err := kafka.Control.WireStory(WireStoryOptions{Since: Ptr(kafka.mark)})
	if text == "" && err == nil {
		return []string{"  no request was served"}, nil
	}
	return []string{"  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")}, err
}

func (kafka *Cluster) groups() (lines []string, err error) {
	groups, err := kafka.Control.Groups()
	for _, group := range groups {
		lag := "unknown lag"
		if group.Lag != nil {
			lag = fmt.Sprintf("lag %d", *group.Lag)
		}
		lines = append(lines, fmt.Sprintf("group %s: %s, %d members, %s", group.GroupID, group.State, len(group.Members), lag))
	}
	return lines, err
}

func (kafka *Cluster) faults() (lines []string, err error) {
	faults, err := kafka.Control.ListFaults()
	for _, fault := range faults {
		line := fmt.Sprintf("fault %d (%s): %d hits", fault.Fault, fault.Options, fault.Hits)
		if fault.Hits == 0 && fault.Missed != "" {
			line += "; " + fault.Missed
		}
		lines = append(lines, line)
	}
	return lines, err
}

func (kafka *Cluster) findings() (lines []string, err error) {
	findings, err := kafka.Control.Doctor(DoctorOptions{Since: Ptr(kafka.mark)})
	for _, finding := range findings {
		lines = append(lines, fmt.Sprintf("doctor: %s: %s", finding.Name, finding.Client), "  problem: "+finding.Problem, "  advice:  "+finding.Advice)
	}
	return lines, err
}
