#include "network/network_rows.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace ui {
namespace {

using engine::CheckedNetwork;
using engine::NetworkHead;
using engine::NetworkRow;
using State = NetworkLineRow::State;

bool isUse(const NetworkHead& head) { return head.caller != head.line; }

bool isChosen(const ChosenRuns& chosen, const NetworkHead& head) {
    const auto found = chosen.find(head.line);
    return (found == chosen.end() ? 0 : found->second) == head.run;
}

class RowMaker {
public:
    RowMaker(const std::vector<NetworkLine>& lines, const CheckedNetwork& network, const ChosenRuns& chosen, const std::vector<double>& saved)
        : lines_(lines), network_(network), chosen_(chosen), saved_(saved) {
        out_.lines.resize(lines.size());
    }

    NetworkRows make() {
        for (std::size_t i = 0; i < network_.rows.size(); ++i) addRow(static_cast<int>(i));
        for (std::size_t i = 0; i < lines_.size(); ++i) finishLine(static_cast<int>(i));
        addRails();
        return std::move(out_);
    }

private:
    /// Null for a line that the text no longer has.
    NetworkLineRow* at(int line) {
        const auto index = static_cast<std::size_t>(line - 1);
        return line > 0 && index < out_.lines.size() ? &out_.lines[index] : nullptr;
    }

    double saved(int index) const { return static_cast<std::size_t>(index) < saved_.size() ? saved_[static_cast<std::size_t>(index)] : 0; }

    void addRow(int index) {
        const NetworkRow& row = network_.rows[static_cast<std::size_t>(index)];
        for (const NetworkHead& head : row.heads)
            if (auto* line = at(head.line); line != nullptr && isUse(head)) line->runs = std::max(line->runs, head.run + 1);
        for (std::size_t i = 0; i < row.heads.size(); ++i) {
            const NetworkHead& head = row.heads[i];
            const bool shown = isChosen(chosen_, head);
            if (isUse(head)) {
                sum(head.caller, row, saved(index));
                if (auto* line = at(head.caller)) line->usedBlock = head.line;
                addEdges(row, i, head.caller);
                if (shown) sum(head.line, row, saved(index));
            } else {
                sum(head.line, row, saved(index));
                if (auto* line = at(head.line)) line->runs = std::max(line->runs, head.run + 1);
            }
            if (!shown) return;
            if (auto* line = at(head.line)) line->run = head.run;
        }
        auto* line = at(row.place.line);
        if (line == nullptr) return;
        if (line->state == State::nothing) {
            line->state = State::layer;
            line->shape = shapeText(row.shape);
            line->parameters = row.parameters;
            line->flops = row.flops;
            line->saved = saved(index);
            line->row = index;
            nameUse(row);
        }
        addEdges(row, row.heads.size(), row.place.line);
    }

    /// The innermost use is a module: the layer's own without its last part.
    void nameUse(const NetworkRow& row) {
        const auto use = std::find_if(row.heads.rbegin(), row.heads.rend(), isUse);
        if (use == row.heads.rend() || row.module.empty()) return;
        auto* around = at(use->line);
        const bool direct = use == row.heads.rbegin();
        if (around != nullptr && direct && around->around.isEmpty()) around->around = QString::fromStdString(row.module).section(u'.', 0, -2);
    }

    void sum(int number, const NetworkRow& row, double saved) {
        auto* line = at(number);
        if (line == nullptr) return;
        line->state = State::head;
        line->shape = shapeText(row.shape);
        line->parameters += row.parameters;
        line->flops += row.flops;
        line->saved += saved;
    }

    /// Values that come from outside into what stands at `line`, with the first `depth` heads of the
    /// row around it.
    void addEdges(const NetworkRow& row, std::size_t depth, int line) {
        int scope = 0;  // heads up to the block that is drawn by itself
        for (std::size_t i = 0; i < depth; ++i)
            if (isUse(row.heads[i])) scope = static_cast<int>(i) + 1;
        for (const int input : row.inputs) {
            if (input < 0) {
                edges_.insert({scopeLine(row, scope), line});
                continue;
            }
            const NetworkRow& source = network_.rows[static_cast<std::size_t>(input)];
            std::size_t common = 0;
            while (common < std::min(source.heads.size(), row.heads.size()) && source.heads[common] == row.heads[common]) ++common;
            const bool inside = common > depth;
            if (inside) continue;  // stays within the block that `line` uses
            if (static_cast<int>(common) < scope) {
                edges_.insert({scopeLine(row, scope), line});
                continue;
            }
            int from = source.place.line;
            for (std::size_t i = common; i < source.heads.size(); ++i) {
                if (!isUse(source.heads[i])) continue;
                from = source.heads[i].caller;
                break;
            }
            // The end of the run before: the value comes in at the repeat's head.
            if (from >= line && common < source.heads.size()) from = source.heads[common].line;
            if (from < line) edges_.insert({from, line});
        }
    }

    /// The line at which a value from outside comes in: that of the block, or of the network.
    int scopeLine(const NetworkRow& row, int scope) const {
        if (scope > 0) return row.heads[static_cast<std::size_t>(scope) - 1].line;
        const auto network = std::ranges::find(lines_, NetworkLine::Kind::network, &NetworkLine::kind);
        return static_cast<int>(network - lines_.begin()) + 1;
    }

    void finishLine(int index) {
        const NetworkLine& text = lines_[static_cast<std::size_t>(index)];
        NetworkLineRow& line = out_.lines[static_cast<std::size_t>(index)];
        const bool boxed = text.kind == NetworkLine::Kind::layer && line.state != State::nothing;
        if (boxed) line.box = text.label.isEmpty() ? text.callee : text.label;
        if (text.kind != NetworkLine::Kind::repeat && text.kind != NetworkLine::Kind::block) line.runs = 0;
        if (line.state != State::nothing || !text.hasValue()) return;
        if (isLeftOut(index))
            line.state = State::leftOut;
        else if (!network_.usable() && !isPass(text))
            line.state = State::unknown;
    }

    static bool isPass(const NetworkLine& text) { return text.kind == NetworkLine::Kind::layer && text.callee.isEmpty(); }

    bool hasFault(int index) const {
        return std::ranges::any_of(network_.faults, [index](const auto& fault) { return !fault.note && fault.place.line == index + 1; });
    }

    bool isLeftOut(int index) const {
        const NetworkLine& text = lines_[static_cast<std::size_t>(index)];
        if (text.head >= 0 && out_.lines[static_cast<std::size_t>(text.head)].state == State::leftOut) return true;
        if (!text.conditional || hasFault(index)) return false;
        const bool used = text.head >= 0 && (lines_[static_cast<std::size_t>(text.head)].kind == NetworkLine::Kind::network ||
                                             out_.lines[static_cast<std::size_t>(text.head)].state == State::head);
        if (network_.usable()) return used;
        // A line that could not be checked leaves those below it unknown.
        for (std::size_t i = static_cast<std::size_t>(text.end) + 1; i < lines_.size(); ++i)
            if (lines_[i].head == text.head && (out_.lines[i].state == State::layer || out_.lines[i].state == State::head)) return used;
        return false;
    }

    void addRails() {
        std::vector<int> boxes;
        for (std::size_t i = 0; i < out_.lines.size(); ++i)
            if (!out_.lines[i].box.isEmpty()) boxes.push_back(static_cast<int>(i) + 1);
        const auto isNext = [&boxes](int from, int to) {
            const auto next = std::ranges::upper_bound(boxes, from);
            return next != boxes.end() && *next == to;
        };
        std::map<int, NetworkRail> far;
        for (const auto& [source, to] : edges_) {
            const int from = boxedSource(boxes, source);
            if (isNext(from, to))
                out_.rails.push_back({from, {to}, 0});
            else
                far[from].to.push_back(to);
        }
        std::vector<int> busy;  // last line of each lane
        for (auto& [from, rail] : far) {
            rail.from = from;
            auto lane = std::ranges::find_if(busy, [from = from](int end) { return end <= from; });
            if (lane == busy.end() && busy.size() == mostLanes) {
                lane = std::prev(busy.end());
                ++out_.bundled;
            } else if (lane == busy.end()) {
                lane = busy.insert(busy.end(), 0);
            }
            *lane = std::max(*lane, rail.to.back());
            rail.lane = static_cast<int>(lane - busy.begin()) + 1;
            out_.rails.push_back(std::move(rail));
        }
        out_.lanes = static_cast<int>(busy.size());
    }

    /// A value that comes from the run before comes in where the repeat does: from the box above it.
    int boxedSource(const std::vector<int>& boxes, int source) const {
        const NetworkLine& line = lines_[static_cast<std::size_t>(source - 1)];
        if (line.kind != NetworkLine::Kind::repeat) return source;
        int entry = line.head;
        while (entry >= 0 && lines_[static_cast<std::size_t>(entry)].head >= 0) entry = lines_[static_cast<std::size_t>(entry)].head;
        const auto above = std::ranges::lower_bound(boxes, source);
        return above != boxes.begin() && *std::prev(above) > entry + 1 ? *std::prev(above) : entry + 1;
    }

    const std::vector<NetworkLine>& lines_;
    const CheckedNetwork& network_;
    const ChosenRuns& chosen_;
    const std::vector<double>& saved_;
    NetworkRows out_;
    std::set<std::pair<int, int>> edges_;
};

}  // namespace

NetworkRows networkRows(const std::vector<NetworkLine>& lines, const CheckedNetwork& network, const ChosenRuns& chosen, const std::vector<double>& saved) {
    return RowMaker(lines, network, chosen, saved).make();
}

void chooseRun(ChosenRuns& chosen, const CheckedNetwork& network, int line, int run) {
    const NetworkRow* best = nullptr;
    std::ptrdiff_t agreeing = -1;
    for (const NetworkRow& row : network.rows) {
        const auto wanted = std::ranges::find_if(row.heads, [&](const NetworkHead& head) { return head.line == line && head.run == run; });
        if (wanted == row.heads.end()) continue;
        const auto same = std::ranges::count_if(row.heads, [&chosen](const NetworkHead& head) { return isChosen(chosen, head); });
        if (same <= agreeing) continue;
        agreeing = same;
        best = &row;
    }
    if (best == nullptr) return;
    for (const NetworkHead& head : best->heads) chosen[head.line] = head.run;
    fitRuns(chosen, network);
}

void fitRuns(ChosenRuns& chosen, const CheckedNetwork& network) {
    std::map<int, int> last;
    for (const NetworkRow& row : network.rows)
        for (const NetworkHead& head : row.heads) last[head.line] = std::max(last[head.line], head.run);
    std::erase_if(chosen, [&last](const auto& each) { return !last.contains(each.first) || last[each.first] < each.second; });
    // A block whose chosen use is not within the other chosen runs shows its first use there.
    std::set<int> shown;
    const auto isShown = [&shown, &chosen](const NetworkHead& head) { return isChosen(chosen, head) && (shown.insert(head.line), true); };
    for (const NetworkRow& row : network.rows) std::ignore = std::ranges::all_of(row.heads, isShown);
    for (const NetworkRow& row : network.rows) {
        for (const NetworkHead& head : row.heads) {
            if (!shown.contains(head.line) && isUse(head)) chosen[head.line] = head.run;
            if (!isShown(head)) break;
        }
    }
}

QString shapeText(const std::string& shape) {
    return QString::fromStdString(shape).replace(u" x "_s, u" × "_s);
}

}  // namespace ui
