// How long texts of networks take to check: 1,000 lines, 5,000 layers of five lines, and each template. Asked are 50 ms for the
// first two, and 2 ms for a template, on one core.
//
//     build/dev/tests/bench/network_bench
#include <benchmark/benchmark.h>

#include <string>

#include "engine/network/network.h"

namespace {

void check(benchmark::State& state, const std::string& text) {
    const engine::NetworkData data = engine::usual_network_data(text);
    for (auto _ : state) benchmark::DoNotOptimize(engine::check_network(text, data).rows.data());
}

std::string thousand_lines() {
    std::string text = "network(image):\n";
    for (int i = 0; i < 1000; ++i)
        text += "  conv" + std::to_string(i) +
                ": Conv2d(8 * 2^0, 3, stride = 2 if 0 > 1 and true else 1, padding=1, bias=false) from above\n";
    return text;
}

}  // namespace

int main(int count, char** values) {
    benchmark::Initialize(&count, values);
    benchmark::RegisterBenchmark("1,000 lines", check, thousand_lines())->Unit(benchmark::kMillisecond);
    const std::string layers = "network(image):\n  repeat 5:\n    repeat 1000 as i:\n      Conv2d(8, 3, padding=1)\n";
    benchmark::RegisterBenchmark("5,000 layers", check, layers)->Unit(benchmark::kMillisecond);
    for (const std::string& name : engine::network_templates())
        benchmark::RegisterBenchmark(name.c_str(), check, engine::network_template(name))->Unit(benchmark::kMillisecond);
    benchmark::RunSpecifiedBenchmarks();
}
