#include "xray/op_tree.h"

#include <algorithm>
#include <cmath>

#include "text/format.h"
#include "text/language.h"

namespace ui {

using engine::XrayOp;
using engine::XrayPass;

namespace {

/// The rule in two or three words.
QString ruleWords(const XrayOp& op) {
    if (op.rule == "forced") return OpTree::tr("forced by %1").arg(QString::fromStdString(op.key));
    if (op.rule == "low") return OpTree::tr("on the 16-bit list");
    if (op.rule == "f32" || op.rule == "f32_dtype" || op.rule == "f32_append")
        return OpTree::tr("on the FP32 list");
    if (op.rule == "promote") return OpTree::tr("widest of its inputs");
    if (op.rule == "gradient") return OpTree::tr("types of the forward pass");
    if (op.rule == "off") return OpTree::tr("outside autocast");
    if (op.rule == "none") return OpTree::tr("no entry: keeps its input's type");
    if (op.rule == "inside") return OpTree::tr("no entry: decided by its parts");
    return QString::fromStdString(op.rule);
}

QString passTitle(XrayPass pass) {
    switch (pass) {
        case XrayPass::forward:
            return OpTree::tr("Forward");
        case XrayPass::backward:
            return OpTree::tr("Backward");
        case XrayPass::update:
            return OpTree::tr("Optimizer");
    }
    return {};
}

void raiseTo(ForceMark& mark, ForceMark other) { mark = std::max(mark, other); }

QString casted(std::int64_t casts, std::int64_t cached) {
    QStringList out;
    if (casts == 1) out << OpTree::tr("1 cast");
    if (casts > 1) out << OpTree::tr("%1 casts").arg(count(casts));
    if (cached > 0) out << OpTree::tr("%1 from cache").arg(count(cached));
    return out.join(u" · "_s);
}

QString micros(double us) {
    return us < 100 ? QString::number(us, 'f', 1) : count(std::llround(us));
}

}  // namespace

std::string groupOf(const std::string& module) {
    const auto dot = module.rfind('.');
    return dot == std::string::npos ? module : module.substr(0, dot);
}

void OpTree::show(const engine::Xray* trace) {
    beginResetModel();
    trace_ = trace;
    build();
    endResetModel();
}

void OpTree::setTried(const engine::ForcedTypes& tried) {
    if (tried == tried_) return;
    tried_ = tried;
    if (nodes_.empty()) return;
    emit layoutAboutToBeChanged();
    for (Node& node : nodes_) node.mark = ForceMark::none;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].op == nullptr) continue;
        const ForceMark mark = markOfOp(*nodes_[i].op);
        for (int at = static_cast<int>(i); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent)
            raiseTo(nodes_[static_cast<std::size_t>(at)].mark, mark);
    }
    emit layoutChanged();
}

const std::pair<const std::string, engine::ForcedType>* OpTree::tried(const XrayOp& op) const {
    for (const auto& each : tried_)
        if (isNamedBy(each.first, op)) return &each;
    return nullptr;
}

ForceMark OpTree::markOfOp(const XrayOp& op) const {
    return tried(op) != nullptr ? ForceMark::user : markOf(QString::fromStdString(op.rule));
}

void OpTree::setFilter(const QString& words, const QString& ruleName) {
    beginResetModel();
    filter_ = {words, ruleName};
    build();
    endResetModel();
}

int OpTree::add(int parent, const QString& title) {
    const int at = static_cast<int>(nodes_.size());
    auto& siblings = parent < 0 ? roots_ : nodes_[static_cast<std::size_t>(parent)].children;
    const int row = static_cast<int>(siblings.size());
    siblings.push_back(at);
    Node node;
    node.parent = parent;
    node.row = row;
    node.title = title;
    nodes_.push_back(std::move(node));
    return at;
}

void OpTree::addTo(int at, const XrayOp& op) {
    Node& node = nodes_[static_cast<std::size_t>(at)];
    raiseTo(node.mark, markOfOp(op));
    node.us += op.us;
    node.flops += op.flops;
    ++node.ops;
    node.casts += std::ssize(op.casts);
    node.cached += op.cached_casts + op.kept_copies;
    node.written += op.bytes_written;
    ++node.rules[op.rule];
    const std::string& type = op.compute_dtype;
    if (!type.empty() && std::ranges::find(node.types, type) == node.types.end())
        node.types.push_back(type);
    node.usByType[type] += op.us;
}

/// The type that most of the time was computed in.
QString OpTree::mainType(const Node& node) {
    const auto most = std::ranges::max_element(node.usByType, {}, [](const auto& each) {
        return each.second;
    });
    return most == node.usByType.end() ? QString() : QString::fromStdString(most->first);
}

void OpTree::build() {
    nodes_.clear();
    roots_.clear();
    longest_ = 1;
    if (trace_ == nullptr) return;
    nodes_.reserve(2 * trace_->ops.size() + 8);
    int pass = -1, group = -1;
    XrayPass last{};
    for (const XrayOp& op : trace_->ops) {
        if (!filter_.passes(op)) continue;
        if (pass < 0 || op.pass != last) {
            pass = add(-1, passTitle(op.pass));
            group = -1;
            last = op.pass;
        }
        const std::string part = groupOf(op.module);
        if (group < 0 || nodes_[static_cast<std::size_t>(group)].module != part) {
            group = add(pass, QString::fromStdString(part));
            nodes_[static_cast<std::size_t>(group)].module = part;
        }
        const int row = add(group, QString::fromStdString(op.op));
        nodes_[static_cast<std::size_t>(row)].op = &op;
        addTo(row, op);
        addTo(group, op);
        addTo(pass, op);
    }
    nameLooseGroups();
    for (const Node& node : nodes_) {
        if (node.parent >= 0) longest_ = std::max(longest_, node.us);
    }
}

/// Operations outside all modules go by their names.
void OpTree::nameLooseGroups() {
    constexpr qsizetype most = 3;
    for (Node& node : nodes_) {
        if (node.op != nullptr || node.parent < 0 || !node.module.empty()) continue;
        QStringList names;
        for (const int child : node.children) {
            const QString& name = nodes_[static_cast<std::size_t>(child)].title;
            if (!names.contains(name)) names << name;
        }
        const bool more = names.size() > most;
        node.title = names.mid(0, most).join(u", "_s) + (more ? u", …"_s : QString());
    }
}

const XrayOp* OpTree::op(const QModelIndex& index) const {
    return index.isValid() ? nodes_[index.internalId()].op : nullptr;
}

std::string OpTree::moduleOf(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    const Node& node = nodes_[index.internalId()];
    return node.op != nullptr ? node.op->module : node.module;
}

QModelIndex OpTree::index(int row, int column, const QModelIndex& parent) const {
    const auto& siblings = parent.isValid() ? nodes_[parent.internalId()].children : roots_;
    if (row < 0 || row >= static_cast<int>(siblings.size()) || column < 0 || column >= columns)
        return {};
    return createIndex(row, column, static_cast<quintptr>(siblings[static_cast<std::size_t>(row)]));
}

QModelIndex OpTree::parent(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    const int parent = nodes_[index.internalId()].parent;
    if (parent < 0) return {};
    return createIndex(nodes_[static_cast<std::size_t>(parent)].row, 0,
                       static_cast<quintptr>(parent));
}

int OpTree::rowCount(const QModelIndex& parent) const {
    if (parent.column() > 0) return 0;
    return static_cast<int>(parent.isValid() ? nodes_[parent.internalId()].children.size()
                                             : roots_.size());
}

QString OpTree::opText(const XrayOp& op, int column) const {
    switch (column) {
        case module: {
            const auto dot = op.module.rfind('.');
            const std::string own =
                dot == std::string::npos ? op.module : op.module.substr(dot + 1);
            return own.empty() ? QString::fromStdString(op.op)
                               : QString::fromStdString(own + "  " + op.op);
        }
        case rule:
            if (const auto* forced = tried(op))
                return tr("forced to %1 in the experiment").arg(typeTitle(forced->second));
            return ruleWords(op);
        default:
            return {};
    }
}

QString OpTree::text(const Node& node, int column) const {
    if (node.op != nullptr && (column == module || column == rule)) return opText(*node.op, column);
    switch (column) {
        case module:
            return node.ops == 1 ? tr("%1  ·  1 op").arg(node.title)
                                 : tr("%1  ·  %2 ops").arg(node.title, count(node.ops));
        case rule: {
            QStringList parts;
            for (const auto& [name, number] : node.rules)
                parts << u"%1 × %2"_s.arg(count(number), ruleTitle(name));
            return parts.join(u" · "_s);
        }
        case casts:
            return casted(node.casts, node.cached);
        case micros:
            return ui::micros(node.us);
        case peak: {
            if (node.op == nullptr || !(node.op->peak_share > 0.001)) return {};
            return percent(node.op->peak_share);
        }
        case written:
            return node.written > 0 ? bytes(node.written) : QString();
        default:
            return {};
    }
}

QVariant OpTree::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Node& node = nodes_[index.internalId()];
    if (role == Qt::DisplayRole) return text(node, index.column());
    if (role == Qt::TextAlignmentRole && index.column() >= micros)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role == markRole && index.column() == rule) return static_cast<int>(node.mark);
    if (role == shareRole) return node.parent < 0 ? 0.0 : node.us / longest_;
    if (role == mainTypeRole) return mainType(node);
    if (role == ruleRole && node.op != nullptr) return QString::fromStdString(node.op->rule);
    if (role == Qt::ToolTipRole && node.op != nullptr) {
        const QString why = engineText(node.op->why);
        return index.column() == rule || index.column() == inputs ? why
                                                                  : text(node, index.column());
    }
    if (role == Qt::ToolTipRole) return text(node, index.column());  // of a group: it may be cut
    if (role != typesRole) return {};
    if (node.op != nullptr) return typesOf(*node.op);
    return stringList(node.types);
}

QVariant OpTree::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section >= micros ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == rule)
        return tr("A filled dot: forced by precision.force, or in the experiment. A ring: autocast "
                  "decides, by its lists or the widest input.");
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case module:
            return tr("module and operation");
        case inputs:
            return tr("inputs → output");
        case rule:
            return tr("rule that decided");
        case casts:
            return tr("casts");
        case micros:
            return tr("µs");
        case peak:
            return tr("of peak");
        case written:
            return tr("output");
        default:
            return {};
    }
}

}  // namespace ui
