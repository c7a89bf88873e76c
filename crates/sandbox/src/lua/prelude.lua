-- What functions may name. `own` holds our functions: those of this file's language could not count what they do.
local own = ...
local error, getmetatable, ipairs, next, pairs, pcall, rawequal, rawget, rawlen, rawset, select, setmetatable, type, xpcall =
    error, getmetatable, ipairs, next, pairs, pcall, rawequal, rawget, rawlen, rawset, select, setmetatable, type, xpcall
local charge, is_stopped = own.charge, own.is_stopped
local floor = math.floor

local function bad(n, name, wanted, value)
  error("bad argument #" .. n .. " to '" .. name .. "' (" .. wanted .. " expected, got " .. type(value) .. ")", 3)
end

-- Errors that end a call go through.
local function checked(ok, ...)
  if not ok and is_stopped((...)) then error((...), 0) end
  return ok, ...
end

local base = {
  _VERSION = _VERSION, assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, rawequal = rawequal,
  rawget = rawget, rawlen = rawlen, select = select, tonumber = tonumber, tostring = tostring, type = type,
}

local locked = {}

function base.pcall(f, ...) return checked(pcall(f, ...)) end

function base.xpcall(f, handler, ...)
  local function handle(e)
    if is_stopped(e) then return e end
    return handler(e)
  end
  return checked(xpcall(f, handle, ...))
end

function base.rawset(t, k, v)
  if locked[t] then error("the library cannot be changed", 2) end
  return rawset(t, k, v)
end

function base.getmetatable(value)
  if type(value) ~= "table" then return nil end
  return getmetatable(value)
end

-- Finalizers would run where nothing counts.
function base.setmetatable(t, meta)
  if type(meta) == "table" and (rawget(meta, "__gc") ~= nil or rawget(meta, "__close") ~= nil) then
    error("__gc and __close are not there", 2)
  end
  if locked[t] then error("the library cannot be changed", 2) end
  return setmetatable(t, meta)
end

-- Strings: long ones count.
local function counted(name)
  local raw = string[name]
  string[name] = function(s, ...)
    if type(s) == "string" and #s > 256 then charge(#s) end
    return raw(s, ...)
  end
end
for _, name in ipairs { "byte", "lower", "reverse", "sub", "upper", "len" } do counted(name) end
local format = string.format
function string.format(f, ...)
  local length = 0
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if type(value) == "string" then length = length + #value end
  end
  if length > 256 then charge(length) end
  return format(f, ...)
end
for name, f in pairs(own.string) do string[name] = f end
string.dump, string.pack, string.unpack, string.packsize = nil, nil, nil, nil
getmetatable("").__index = string
getmetatable("").__metatable = false

for _, name in ipairs { "len", "offset", "codepoint" } do
  local raw = utf8[name]
  utf8[name] = function(s, ...)
    if type(s) == "string" and #s > 256 then charge(#s) end
    return raw(s, ...)
  end
end

math.random, math.randomseed = nil, nil

-- Tables: in instructions, which are counted.
local concat = own.concat

function table.concat(t, separator, i, j)
  if type(t) ~= "table" then bad(1, "concat", "table", t) end
  return concat(t, separator or "", i or 1, j or #t)
end

function table.insert(t, ...)
  if type(t) ~= "table" then bad(1, "insert", "table", t) end
  local count, last = select("#", ...), #t + 1
  if count == 1 then
    t[last] = (...)
  elseif count == 2 then
    local place, value = ...
    if type(place) ~= "number" then bad(2, "insert", "number", place) end
    if place < 1 or place > last then error("bad argument #2 to 'insert' (position out of bounds)", 2) end
    for i = last, place + 1, -1 do t[i] = t[i - 1] end
    t[place] = value
  else
    error("wrong number of arguments to 'insert'", 2)
  end
end

function table.remove(t, place)
  if type(t) ~= "table" then bad(1, "remove", "table", t) end
  local size = #t
  if place == nil then place = size
  elseif size + 1 ~= place and (place < 1 or place > size + 1) and not (size == 0 and place == 0) then
    error("bad argument #2 to 'remove' (position out of bounds)", 2)
  end
  local value = t[place]
  while place < size do
    t[place] = t[place + 1]
    place = place + 1
  end
  if place <= size or size == 0 then t[place] = nil end
  return value
end

function table.move(from, first, last, place, to)
  if type(from) ~= "table" then bad(1, "move", "table", from) end
  to = to or from
  if last >= first then
    if place > last or place <= first or to ~= from then
      for i = 0, last - first do to[place + i] = from[first + i] end
    else
      for i = last - first, 0, -1 do to[place + i] = from[first + i] end
    end
  end
  return to
end

local function less(a, b) return a < b end

-- Merges runs of doubling length: equal ones stay in order, and a comparison that makes no sense does no harm.
function table.sort(t, before)
  if type(t) ~= "table" then bad(1, "sort", "table", t) end
  if before ~= nil and type(before) ~= "function" then bad(2, "sort", "function", before) end
  before = before or less
  local size, from, to, run = #t, t, {}, 1
  while run < size do
    local start = 1
    while start <= size do
      local middle = start + run
      local stop = middle + run
      if middle > size + 1 then middle = size + 1 end
      if stop > size + 1 then stop = size + 1 end
      local left, right = start, middle
      for i = start, stop - 1 do
        if left < middle and (right >= stop or not before(from[right], from[left])) then
          to[i], left = from[left], left + 1
        else
          to[i], right = from[right], right + 1
        end
      end
      start = stop
    end
    from, to, run = to, from, run * 2
  end
  if from ~= t then
    for i = 1, size do t[i] = from[i] end
  end
end

-- Libraries can be read and not changed.
local function lock(name, library)
  local shown = setmetatable({}, {
    __index = library,
    __newindex = function() error("the library cannot be changed", 2) end,
    __pairs = function() return next, library, nil end,
    __metatable = false,
  })
  locked[shown] = true
  base[name] = shown
end
lock("string", string)
lock("table", table)
lock("math", math)
lock("utf8", utf8)

local meta = { __index = base, __metatable = false }
return function() return setmetatable({}, meta) end
