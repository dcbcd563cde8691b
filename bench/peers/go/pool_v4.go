//go:build !pgx5

package main

import (
	"context"

	"github.com/jackc/pgx/v4/pgxpool"
)

// connect opens a pool of at most size connections with pgx v4.
func connect(ctx context.Context, dsn string, size int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(size)
	return pgxpool.ConnectConfig(ctx, config)
}
