#include "network/expansion.h"

#include "engine/base/near_name.h"

namespace engine::network {

/// Names of a container hold those around it, which hold the container's.
Expansion::~Expansion() {
    for (const auto& each : holding_)
        if (const auto scope = each.lock()) scope->forget();
}

bool Expansion::may_suggest(std::size_t names) const {
    constexpr std::size_t most = 100'000;
    return (suggested_ += names) <= most;
}

void Expansion::report(const Failure& failure) {
    const TextPlace& place = reported_place(failure.place);
    if (!faulty_lines_.insert(place.line).second) return;
    faults_.push_back({place, failure.text, again_ != nullptr ? std::nullopt : failure.replacement});
}

void Expansion::note(TextPlace place, Message text) {
    if (noted_.emplace(place.line, place.column).second) faults_.push_back({place, std::move(text), {}, true});
}

void Expansion::set_name(Names& scope, const std::string& name, NamedValue value) {
    if (value.inner) holding_.push_back(scope.weak_from_this());
    scope.set(name, std::move(value), ++clock_);
}

std::optional<NamedValue> Expansion::find_value(const Names& names, const std::string& path) const {
    if (const NamedValue* found = names.find(path, clock_)) return *found;
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
        if (const NamedValue* found = names.find(path.substr(0, dot), clock_))
            if (const auto inside = find_inside(*found, path.substr(dot + 1))) return inside;
    return {};
}

std::optional<NamedValue> Expansion::find_inside(const NamedValue& outer, const std::string& path) const {
    if (outer.value >= 0) {
        const int node = graph_.values[static_cast<std::size_t>(outer.value)].node;
        if (node >= 0)
            for (const int output : graph_.nodes[static_cast<std::size_t>(node)].outputs)
                if (graph_.values[static_cast<std::size_t>(output)].role == path) return NamedValue{output, -1, {}};
    }
    if (!outer.inner) return {};
    if (const NamedValue* found = outer.inner->find_own(path, clock_)) return *found;
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
        if (const NamedValue* found = outer.inner->find_own(path.substr(0, dot), clock_))
            if (const auto inside = find_inside(*found, path.substr(dot + 1))) return inside;
    return {};
}

std::string Expansion::text(const Label& label, const Frame& frame) {
    if (!label.fixed().empty()) return std::string(label.fixed());
    std::string out;
    for (const Label::Piece& piece : label.pieces) {
        if (!piece.computed) {
            out += piece.text;
            continue;
        }
        const Value value = evaluator_.evaluate(*piece.computed, FrameView(*this, frame));
        if (value.as<std::int64_t>() == nullptr && value.as<std::string>() == nullptr)
            fail(label.place, msg("{} in a name: a whole number or a word fits here.", brief(value)));
        out += to_string(value);
    }
    return out;
}

NamedValue Expansion::value(const std::string& name, TextPlace place, const Frame& frame) {
    if (name == "above") return frame.current;
    if (const auto found = find_value(*frame.names, name)) return *found;
    if (frame.names->is_incomplete() || is_reported(place)) throw Unknown{};
    std::vector<std::string> known;
    frame.names->add_names(known);
    const std::string near = may_suggest(known.size()) ? nearest_name(name, known) : std::string();
    if (near.empty()) fail(place, msg("{}: there is no such layer or value here.", name));
    throw Failure{place, msg("{}: there is no such layer or value here. Did you mean {}?", name, near), near};
}

const Value* FrameView::variable(std::string_view name) const {
    return frame_.variables->find(std::string(name), expansion_.clock());
}

const TensorType* FrameView::tensor(std::string_view path) const {
    const auto found = expansion_.find_value(*frame_.names, std::string(path));
    if (!found) return nullptr;
    if (found->value < 0) throw Unknown{};
    return &expansion_.graph().values[static_cast<std::size_t>(found->value)].type;
}

std::vector<std::string> FrameView::known_names() const {
    if (frame_.variables->is_incomplete() || frame_.names->is_incomplete()) throw Unknown{};
    std::vector<std::string> names;
    frame_.variables->add_names(names);
    return expansion_.may_suggest(names.size()) ? names : std::vector<std::string>();
}

}  // namespace engine::network
