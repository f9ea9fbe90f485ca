#include <map>
#include <tuple>

#include "engine/instruments/xray.h"

namespace engine {
namespace {

/// Pass, module, operation.
using PairKey = std::tuple<XrayPass, std::string, std::string>;

PairKey place_of(const XrayOp& op) { return {op.pass, op.module, op.op}; }

std::map<PairKey, std::vector<std::size_t>> by_place(const Xray& trace) {
    std::map<PairKey, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < trace.ops.size(); ++i) out[place_of(trace.ops[i])].push_back(i);
    return out;
}

}  // namespace

std::vector<XrayPair> pairs_of(const Xray& first, const Xray& second) {
    const auto places = by_place(second);
    std::map<PairKey, std::size_t> seen;
    std::vector<std::ptrdiff_t> partners;
    std::vector<bool> taken(second.ops.size(), false);
    for (const XrayOp& op : first.ops) {
        const PairKey place = place_of(op);
        const std::size_t nth = seen[place]++;
        const auto found = places.find(place);
        const bool has = found != places.end() && nth < found->second.size();
        partners.push_back(has ? static_cast<std::ptrdiff_t>(found->second[nth]) : -1);
        if (has) taken[found->second[nth]] = true;
    }
    // Operations that only the second trace has keep their order, after the partner of their
    // predecessor.
    std::vector<XrayPair> out;
    std::size_t next = 0;
    const auto add_until = [&](std::size_t end) {
        for (; next < end; ++next) {
            if (!taken[next]) out.push_back({nullptr, &second.ops[next]});
        }
    };
    for (std::size_t i = 0; i < first.ops.size(); ++i) {
        const auto partner = partners[i];
        if (partner < 0) {
            out.push_back({&first.ops[i], nullptr});
            continue;
        }
        add_until(static_cast<std::size_t>(partner));
        out.push_back({&first.ops[i], &second.ops[static_cast<std::size_t>(partner)]});
    }
    add_until(second.ops.size());
    return out;
}

}  // namespace engine
