-- What every peer runs for one request, as a prepared statement: $1 client, $2 jkt, $3 jti. A plain statement keeps its plan,
-- which a function in SQL would not. The limits never refuse here: 1 s a permit, an hour of burst and more.
with lim as (
  insert into peer_rate as r values ($1::text, $2::text, now() + interval '1 s')
  on conflict (client, jkt) do update set tat = greatest(r.tat, now()) + interval '1 s'
    where greatest(r.tat, now()) - now() <= interval '1 day'
  returning 1)
, ins as (insert into peer_jti select $3::text, $1, $2, now() + interval '60 s' from lim returning 1)
select exists (select 1 from ins) as ok
