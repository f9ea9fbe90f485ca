#include "tensor/observer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "tensor/tape.h"

namespace engine {

namespace detail {
constinit thread_local bool observed = false;
constinit thread_local bool gradients_observed = false;
}  // namespace detail

namespace {

struct Attached {
    std::vector<OpObserver*> observers;
    Audience audience = Audience::all;

    bool is_shown_to(const OpObserver& each) const {
        return audience == Audience::all || (audience == Audience::aside) == each.sees_ops();
    }
};
thread_local Attached attached;

void note_attached() {
    detail::observed = !detail::op_observers().empty();
    detail::gradients_observed = std::ranges::any_of(
        attached.observers, [](const OpObserver* each) { return attached.is_shown_to(*each); });
}

void tell_aside(bool begins) {
    for (OpObserver* each : detail::op_observers()) each->on_aside(begins);
}

}  // namespace

ObserverScope::ObserverScope(OpObserver& observer) : observer_(&observer) {
    attached.observers.push_back(observer_);
    note_attached();
}

ObserverScope::~ObserverScope() {
    attached.observers.erase(std::ranges::find(attached.observers, observer_));
    note_attached();
}

AudienceScope::AudienceScope(Audience audience)
    : before_(std::exchange(attached.audience, audience)) {
    note_attached();
    if (audience == Audience::aside) tell_aside(true);
}

AudienceScope::~AudienceScope() {
    const bool ends = attached.audience == Audience::aside;
    try {
        if (ends) tell_aside(false);
        attached.audience = before_;
        note_attached();
        if (!ends && before_ == Audience::aside) tell_aside(true);
    } catch (...) {  // a device that is lost says so at the next call
        attached.audience = before_;
        note_attached();
    }
}

namespace detail {

std::vector<OpObserver*> op_observers() {
    std::vector<OpObserver*> out = attached.observers;
    std::erase_if(out, [](const OpObserver* each) {
        return !each->sees_ops() || !attached.is_shown_to(*each);
    });
    return out;
}

void notify(const OpEvent& event) {
    for (OpObserver* observer : op_observers()) observer->on_op(event);
}

bool inputs_are_read() {
    return observed && std::ranges::any_of(op_observers(), &OpObserver::reads_inputs);
}

bool pair_is_allowed(const Op& to) {
    return std::ranges::all_of(attached.observers, [&](const OpObserver* each) {
        return each->sees_ops() || each->allows_pair(to);
    });
}

void show_gradient(const Op& to, const Tensor& gradient) {
    if (!gradient.defined() || gradient.is_sparse()) return;
    for (OpObserver* observer : attached.observers)
        if (attached.is_shown_to(*observer)) observer->on_gradient(to, gradient);
}

}  // namespace detail

void show_part(const Op& part, std::initializer_list<Tensor> inputs, const Tensor& output) {
    if (!detail::observed) return;
    detail::notify({&part, {inputs.begin(), inputs.size()}, {&output, 1}, in_backward()});
}

const Tensor& OpArguments::at(int i) const {
    const auto found = tensors.find(i);
    if (found == tensors.end()) {
        throw Error(ErrorCode::value, "tensor argument " + std::to_string(i) + " is missing");
    }
    return found->second;
}

Tensor OpArguments::get(int i) const {
    const auto found = tensors.find(i);
    return found == tensors.end() ? Tensor() : found->second;
}

bool OpArguments::has(const std::string& attr) const {
    const auto found = attrs.find(attr);
    return found != attrs.end() && !std::holds_alternative<std::monostate>(found->second);
}

namespace {

[[noreturn]] void refuse(const std::string& attr, const char* wanted) {
    throw Error(ErrorCode::value, "attribute " + attr + " must be " + wanted);
}

}  // namespace

std::int64_t OpArguments::integer(const std::string& attr, std::int64_t otherwise) const {
    if (!has(attr)) return otherwise;
    const auto& value = attrs.at(attr);
    if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
    if (const auto* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
    refuse(attr, "a whole number");
}

double OpArguments::number(const std::string& attr, double otherwise) const {
    if (!has(attr)) return otherwise;
    const auto& value = attrs.at(attr);
    if (const auto* d = std::get_if<double>(&value)) return *d;
    if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
    const auto* word = std::get_if<std::string>(&value);
    if (word && *word == "inf") return std::numeric_limits<double>::infinity();
    if (word && *word == "-inf") return -std::numeric_limits<double>::infinity();
    refuse(attr, "a number, inf or -inf");
}

bool OpArguments::flag(const std::string& attr, bool otherwise) const {
    if (!has(attr)) return otherwise;
    if (const auto* b = std::get_if<bool>(&attrs.at(attr))) return *b;
    refuse(attr, "true or false");
}

std::string OpArguments::text(const std::string& attr, const std::string& otherwise) const {
    if (!has(attr)) return otherwise;
    if (const auto* s = std::get_if<std::string>(&attrs.at(attr))) return *s;
    refuse(attr, "a word");
}

std::vector<std::int64_t> OpArguments::integers(const std::string& attr,
                                                std::vector<std::int64_t> otherwise) const {
    if (!has(attr)) return otherwise;
    const auto& value = attrs.at(attr);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return *list;
    if (const auto* i = std::get_if<std::int64_t>(&value)) return {*i};
    refuse(attr, "a list of whole numbers");
}

std::vector<double> OpArguments::numbers(const std::string& attr) const {
    if (!has(attr)) return {};
    if (const auto* list = std::get_if<std::vector<double>>(&attrs.at(attr))) return *list;
    const auto whole = integers(attr, {});
    return {whole.begin(), whole.end()};
}

std::optional<DType> OpArguments::dtype(const std::string& attr) const {
    if (!has(attr)) return std::nullopt;
    return dtype_from_name(text(attr, ""));
}

}  // namespace engine
