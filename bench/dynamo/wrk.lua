-- Sends the requests of a file, one after the other: each is a line with its length, then its bytes.
local requests, at = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  while true do
    local length = file:read("*l")
    if not length then break end
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
  at = math.random(#requests)
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, requests)
  local wrong = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout + summary.errors.connect
  io.write(string.format("result %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(99), wrong))
end
