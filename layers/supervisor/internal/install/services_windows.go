package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

const (
	serviceName = "headgate-supervisor"
	// The supervisor stops its collector, which may have to send what it holds.
	stopsWithin = time.Minute
)

// control is the service control manager.
type control struct{}

func defaultRoot() string { return filepath.Join(os.Getenv("ProgramFiles"), "Headgate") }

func services() (manager, error) {
	if !windows.GetCurrentProcessToken().IsElevated() {
		return nil, errors.New("a service needs an administrator; run this in a PowerShell that was started as administrator")
	}
	return control{}, nil
}

// with passes the service, nil if there is none.
func with(use func(manager *mgr.Mgr, service *mgr.Service) error) error {
	manager, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer func() { _ = manager.Disconnect() }()
	service, err := manager.OpenService(serviceName)
	if err != nil && !errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return err
	}
	if err != nil {
		return use(manager, nil)
	}
	defer func() { _ = service.Close() }()
	return use(manager, service)
}

func (control) Stop() error {
	return with(func(_ *mgr.Mgr, service *mgr.Service) error {
		if service == nil {
			return nil
		}
		return stopped(service)
	})
}

func stopped(service *mgr.Service) error {
	if _, err := service.Control(svc.Stop); err != nil && !errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return err
	}
	for deadline := time.Now().Add(stopsWithin); time.Now().Before(deadline); time.Sleep(asksEvery) {
		status, err := service.Query()
		if err != nil {
			return err
		}
		if status.State == svc.Stopped {
			return nil
		}
	}
	return fmt.Errorf("it did not stop within %v", stopsWithin)
}

func (control) Start(program string, arguments []string) error {
	return with(func(manager *mgr.Mgr, service *mgr.Service) error {
		settings := mgr.Config{
			DisplayName: "Headgate supervisor", Description: "Headgate supervisor and its OpenTelemetry Collector",
			StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal,
		}
		if service == nil {
			made, err := manager.CreateService(serviceName, program, settings, arguments...)
			if err != nil {
				return err
			}
			defer func() { _ = made.Close() }()
			service = made
		}
		again := mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: 5 * time.Second}
		if err := service.SetRecoveryActions([]mgr.RecoveryAction{again, again, again}, 60); err != nil {
			return fmt.Errorf("say that it is started again: %w", err)
		}
		return service.Start()
	})
}

func (control) Remove() error {
	return with(func(_ *mgr.Mgr, service *mgr.Service) error {
		if service == nil {
			return nil
		}
		if err := stopped(service); err != nil {
			return err
		}
		return service.Delete()
	})
}
