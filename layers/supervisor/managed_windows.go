package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

// managed runs the work as a service, if the service manager started this program. The manager waits for the end of the
// work when it stops the service.
func managed(work func(stop context.Context) int) int {
	// A service has no console, by which a collector is asked to end. It is refused where there is one.
	allocated, _, err := windows.NewLazySystemDLL("kernel32.dll").NewProc("AllocConsole").Call()
	if allocated == 0 && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		log.Printf("make a console: %v", err)
	}
	// What its collector is told by the console may reach this process, which would end otherwise.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	handler := &serviceHandler{work: work}
	err = svc.Run("", handler)
	if errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) {
		// Somebody started it at a prompt.
		return untilASignal(work)
	}
	if err != nil {
		log.Printf("run as a service: %v", err)
		return 1
	}
	return handler.code
}

type serviceHandler struct {
	work func(stop context.Context) int
	code int
}

// Execute runs the work until the service manager stops it. A service that ends otherwise has failed, so that the manager
// starts it again.
func (s *serviceHandler) Execute(_ []string, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) (bool, uint32) {
	stop, end := context.WithCancel(context.Background())
	defer end()
	ended := make(chan int, 1)
	go func() { ended <- s.work(stop) }()
	running := svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	changes <- running
	for {
		select {
		case s.code = <-ended:
			if stop.Err() != nil {
				return false, 0
			}
			// Without the state `stopped`, which an end in order has: then the manager restarts it.
			os.Exit(max(s.code, 1))
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				changes <- request.CurrentStatus
			case svc.Stop, svc.Shutdown:
				changes <- svc.Status{State: svc.StopPending, WaitHint: 60_000}
				end()
			}
		}
	}
}
