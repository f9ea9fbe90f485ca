#include "parallel/exchange_line.h"

#include <utility>

#include "parallel/device_exchange_line.h"
#include "parallel/host_exchange_line.h"

namespace engine {

ExchangeTimer sum_of(std::vector<ExchangeTimer> timers) {
    return [timers = std::move(timers)] {
        ExchangeTimes sum;
        for (const ExchangeTimer& timer : timers) {
            const ExchangeTimes times = timer();
            sum.total_ms += times.total_ms;
            sum.hidden_ms += times.hidden_ms;
        }
        return sum;
    };
}

std::unique_ptr<ExchangeLine> make_exchange_line(std::unique_ptr<Communicator> line) {
    if (line->on_device()) return std::make_unique<DeviceExchangeLine>(std::move(line));
    return std::make_unique<HostExchangeLine>(std::move(line));
}

}  // namespace engine
