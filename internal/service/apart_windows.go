package service

import "syscall"

func apart(Login) *syscall.SysProcAttr { return nil }
