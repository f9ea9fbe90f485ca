#include "network/network_types.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "network/network_model.h"
#include "text/format.h"

namespace ui {
namespace {

struct TypeWords {
    Q_DECLARE_TR_FUNCTIONS(NetworkTypes)
};

struct TypeChoice {
    QString title;
    std::optional<engine::ForcedType> type;
};

std::array<TypeChoice, 4> typeChoices() {
    using enum engine::ForcedType;
    return {{{TypeWords::tr("auto"), {}}, {u"f32"_s, fp32}, {u"f16"_s, fp16}, {u"bf16"_s, bf16}}};
}

bool canForce(const std::string& op) {
    return std::ranges::any_of(engine::ops(), [&op](const engine::OpSummary& known) { return known.name == op && known.forceable; });
}

}  // namespace

const engine::PredictedType* NetworkTypes::find(int row) const {
    const auto found = std::ranges::find_if(operations, [row](const auto& op) { return op.row == row && !op.type.empty(); });
    return found == operations.end() ? nullptr : &*found;
}

NetworkTypes predictTypes(const std::string& text, const engine::CheckedNetwork& network, const engine::NetworkData& data,
                          const engine::PrecisionConfig& precision) {
    NetworkTypes out{precision.preset, {}, {}, {}, {}};
    const auto predict = [&](const engine::ForcedTypes& force) {
        engine::PrecisionConfig tried = precision;
        tried.force = force;
        try {
            out.operations = engine::predict_types(text, data, tried);
            return true;
        } catch (const engine::Error&) {
            return false;
        }
    };
    // A module of another network may be forced: the other keys count.
    if (!predict(precision.force) && predict({})) {
        engine::ForcedTypes known;
        for (const auto& forced : precision.force) {
            if (predict({forced}))
                known.insert(forced);
            else
                out.unknown.push_back(forced.first);
        }
        predict(known);
    }
    const auto rows = static_cast<int>(network.rows.size());
    std::erase_if(out.operations, [rows](const auto& op) { return op.row < 0 || op.row >= rows; });
    out.rows = engine::types_by_row(out.operations, network.rows.size());
    out.fused.assign(network.rows.size(), false);
    for (const auto& op : out.operations)
        for (const int row : op.further)
            if (row < rows) out.fused[static_cast<std::size_t>(row)] = true;
    return out;
}

std::vector<std::string> measuredByRow(const NetworkTypes& predicted, const std::vector<MeasuredType>& measured, bool same) {
    using Name = std::pair<std::string, std::string>;
    std::map<Name, std::vector<const MeasuredType*>> types;
    for (const MeasuredType& each : measured) types[{each.module, each.op}].push_back(&each);
    std::map<Name, std::size_t> expected;
    for (const auto& op : predicted.operations) ++expected[{op.module, op.op}];
    if (!same) std::erase_if(types, [&expected](const auto& each) { return each.second.size() != expected[each.first]; });
    std::map<Name, std::size_t> taken;
    std::vector<engine::PredictedType> found;
    for (engine::PredictedType op : predicted.operations) {
        const Name name{op.module, op.op};
        const std::size_t place = taken[name]++;
        if (const auto& own = types[name]; place < own.size()) {
            op.type = own[place]->type;
            op.result = own[place]->result;
            found.push_back(std::move(op));
        }
    }
    return engine::types_by_row(found, predicted.rows.size());
}

ForceTarget forceTarget(const NetworkTypes& types, const engine::CheckedNetwork& network, int row) {
    const auto* op = types.find(row);
    if (op == nullptr || row < 0 || static_cast<std::size_t>(row) >= network.rows.size()) return {};
    ForceTarget out;
    const bool module = !op->module.empty() && op->module == network.rows[static_cast<std::size_t>(row)].module;
    if (module)
        out.key = op->module;
    else if (canForce(op->op))
        out.key = op->module.empty() ? op->op : op->module + ':' + op->op;
    if (out.key.empty()) return {};
    std::set<int> rows;
    const auto isMeant = [&](const engine::PredictedType& each) {
        const bool within = op->module.empty() || each.module == op->module || each.module.starts_with(op->module + '.');
        return within && (module || each.op == op->op);
    };
    for (const auto& each : types.operations)
        if (isMeant(each)) rows.insert(each.row);
    rows.erase(row);
    out.others = static_cast<int>(rows.size());
    return out;
}

void addTypeChoices(QMenu* menu, NetworkModel* model, int row) {
    const auto& view = model->now();
    const ForceTarget target = forceTarget(view.types, view.network, row);
    if (target.key.empty()) {
        menu->addAction(TypeWords::tr("It takes the type of its input"))->setEnabled(false);
        return;
    }
    QActionGroup* group = nullptr;
    const auto now = model->forced(target.key);
    for (const TypeChoice& choice : typeChoices()) {
        QAction* action = menu->addAction(choice.title);
        if (group == nullptr) group = new QActionGroup(action);  // goes with the actions when the menu is cleared
        action->setCheckable(true);
        action->setChecked(choice.type == now);
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, model, [model, key = target.key, type = choice.type] { model->force(key, type); });
    }
    if (target.others == 0) return;
    menu->addSeparator();
    const QString covered = target.others == 1 ? TypeWords::tr("%1: one other line, too") : TypeWords::tr("%1: %2 other lines, too").arg(u"%1"_s, count(target.others));
    menu->addAction(covered.arg(QString::fromStdString(target.key)))->setEnabled(false);
}

}  // namespace ui
