-- Rejection-inversion (Hörmann and Derflinger 1996): 1 to n, k as often as 1/k^s.
local function zipfian(n, s)
   local function near(x)
      return math.abs(x) > 1e-8 and (math.exp(x) - 1) / x or 1 + x / 2
   end
   local function log_near(x)
      return math.abs(x) > 1e-8 and math.log(1 + x) / x or 1 - x / 2
   end
   local function integral(x)
      local log_x = math.log(x)
      return near((1 - s) * log_x) * log_x
   end
   local function inverse(x)
      return math.exp(log_near(math.max(-1, x * (1 - s))) * x)
   end
   local function density(x)
      return math.exp(-s * math.log(x))
   end
   local first, last = integral(1.5) - 1, integral(n + 0.5)
   local squeeze = 2 - inverse(integral(2.5) - density(2))
   return function()
      while true do
         local u = last + sysbench.rand.uniform_double() * (first - last)
         local x = inverse(u)
         local k = math.min(n, math.max(1, math.floor(x + 0.5)))
         if k - x <= squeeze or u >= integral(k + 0.5) - density(k) then
            return k
         end
      end
   end
end
