package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const temporaryPrefix = "porchlight-postgres-"

// lockDir takes the folder for this process. The kernel gives it back when the process ends, however
// it ends.
func lockDir(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the database folder: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return lock, nil
	}
	_ = lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, alreadyRunning(dir)
	}
	return nil, fmt.Errorf("lock the database folder: %w", err)
}

// sweep removes temporary clusters whose process died before it could: nobody holds their lock. Only
// those older than a minute, because a folder is made a moment before it is locked.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Stat(filepath.Join(dir, "lock"))
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if lock, err := lockDir(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}
