-- Runs another script for sysbench whose clients work in turn with those of others.
--
-- All have one file in memory, written by the lab (`turns.py`). A client that is connected says so
-- in it, and waits for its release; from then on it works in the seconds of its side only. Where
-- these lie is known beforehand, so a client that waits sleeps until its next one. The file also
-- says whether a client works, so that the lab knows when the last query of a turn has ended.

local ffi = require("ffi")

ffi.cdef[[
   typedef struct {
      double release_s, begin_s, turn_s;
      uint32_t number;
      char sides[1000];
      uint8_t clients[4][65536];
   } ndblab_turns;
   struct ndblab_timespec { long s, ns; };
   int open(const char *path, int flags, ...);
   int close(int file);
   void *mmap(void *at, size_t length, int protection, int flags, int file, long offset);
   int clock_gettime(int clock, struct ndblab_timespec *at);
   int usleep(unsigned int us);
]]

local READ_WRITE, SHARED, MONOTONIC = 2, 1, 1
local WAITS, WORKS = 1, 2
local LONGEST_S, SHORT_S = 0.5, 0.002
local path, side = os.getenv("NDBLAB_TURNS"), os.getenv("NDBLAB_TURNS_SIDE")
local file = ffi.C.open(path, READ_WRITE)
assert(file >= 0, "the lab's file of turns cannot be opened: " .. path)
local length = ffi.sizeof("ndblab_turns")
local mapped = ffi.C.mmap(nil, length, READ_WRITE + 1, SHARED, file, 0)
assert(ffi.cast("intptr_t", mapped) ~= -1, "the lab's file of turns cannot be read: " .. path)
ffi.C.close(file)
local turns = ffi.cast("volatile ndblab_turns *", mapped)
local mine = string.byte(side)
local place = mine - string.byte("a")
local clock = ffi.new("struct ndblab_timespec")

local script = os.getenv("NDBLAB_TURNS_SCRIPT")
dofile(script:find("/", 1, true) and script or assert(package.searchpath(script, package.path)))

local function now_s()
   ffi.C.clock_gettime(MONOTONIC, clock)
   return tonumber(clock.s) + tonumber(clock.ns) / 1e9
end

local function sleep(seconds)
   ffi.C.usleep(math.max(1, math.min(seconds, LONGEST_S) * 1e6))
end

-- Returns how long this side has to wait, 0 in a turn of its own.
local function wait_s()
   local begin_s = turns.begin_s
   if begin_s == 0 then
      return SHORT_S
   end
   local at_s = now_s() - begin_s
   if at_s < 0 then
      return -at_s
   end
   local turn = math.floor(at_s / turns.turn_s)
   if turn >= turns.number then
      return SHORT_S
   end
   if turns.sides[turn] == mine then
      return 0
   end
   repeat
      turn = turn + 1
   until turn >= turns.number or turns.sides[turn] == mine
   return turn * turns.turn_s - at_s
end

local connect = thread_init

function thread_init(thread_id)
   if connect then
      connect(thread_id)
   end
   turns.clients[place][sysbench.tid] = WAITS
   while turns.release_s == 0 do
      sleep(SHORT_S)
   end
   sleep(math.max(0, turns.release_s - now_s()))
end

-- Waiting is no part of an event, so it does not count as latency.
function thread_run(thread_id)
   while ffi.C.sb_more_events(thread_id) do
      local seconds = wait_s()
      turns.clients[place][sysbench.tid] = seconds > 0 and WAITS or WORKS
      if seconds > 0 then
         sleep(seconds)
      else
         ffi.C.sb_event_start(thread_id)
         local done, result
         repeat
            done, result = pcall(event, thread_id)
            if not done then
               if type(result) ~= "table" or result.errcode ~= sysbench.error.RESTART_EVENT then
                  error(result, 2)
               end
               if sysbench.hooks.before_restart_event then
                  sysbench.hooks.before_restart_event(result)
               end
            end
         until done
         if result then
            break
         end
         ffi.C.sb_event_stop(thread_id)
      end
   end
end
