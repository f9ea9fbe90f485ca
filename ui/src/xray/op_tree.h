#pragma once

#include <QAbstractItemModel>
#include <vector>

#include "engine/instruments/xray.h"
#include "xray/op_filter.h"

namespace ui {

/// The operations of a trace as a tree: passes, groups of operations that follow each other in one
/// part of the model, operations. Rows that the filter does not pass are left out with the groups
/// that it empties. GUI thread.
class OpTree final : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { module, inputs, rule, casts, micros, peak, written, columns };
    /// Types of a node, for the delegate: list of type names, "" between inputs and outputs.
    static constexpr int typesRole = Qt::UserRole;
    /// Share of the longest operation's or group's time.
    static constexpr int shareRole = Qt::UserRole + 1;
    /// The rule's name: "low", "f32", "none", "forced", ...
    static constexpr int ruleRole = Qt::UserRole + 2;
    /// The type that an operation computes in, or most of a group's time.
    static constexpr int mainTypeRole = Qt::UserRole + 3;
    /// A ForceMark: of an operation, or the strongest in a group.
    static constexpr int markRole = Qt::UserRole + 4;

    using QAbstractItemModel::QAbstractItemModel;

    /// The trace must outlive this model, or be replaced before it goes; null: nothing.
    void show(const engine::Xray* trace);
    /// Types that the experiment on show forces; none: there is no experiment.
    void setTried(const engine::ForcedTypes& tried);
    /// Words that module, operation, types or rule hold, and a rule; empty: all.
    void setFilter(const QString& words, const QString& ruleName);
    /// The operation of an index; null for a pass or a group.
    const engine::XrayOp* op(const QModelIndex& index) const;
    /// The module that a group stands for, or an operation belongs to.
    std::string moduleOf(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex&) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node {
        int parent = -1;
        int row = 0;  ///< among its siblings
        std::vector<int> children;
        const engine::XrayOp* op = nullptr;
        QString title;
        std::string module;  ///< of a group
        double us = 0, flops = 0;
        std::int64_t ops = 0, casts = 0, cached = 0, written = 0;
        std::map<std::string, int> rules;
        std::vector<std::string> types;
        std::map<std::string, double> usByType;
        ForceMark mark = ForceMark::none;
    };
    static QString mainType(const Node& node);

    void build();
    void nameLooseGroups();
    int add(int parent, const QString& title);
    void addTo(int node, const engine::XrayOp& op);
    QString text(const Node& node, int column) const;
    QString opText(const engine::XrayOp& op, int column) const;
    /// The key of the experiment that names the operation; null: none does.
    const std::pair<const std::string, engine::ForcedType>* tried(const engine::XrayOp& op) const;
    ForceMark markOfOp(const engine::XrayOp& op) const;

    const engine::Xray* trace_ = nullptr;
    OpFilter filter_;
    engine::ForcedTypes tried_;
    std::vector<Node> nodes_;
    std::vector<int> roots_;
    double longest_ = 1;
};

/// The part of the model that an operation is shown under: its module without the last name.
std::string groupOf(const std::string& module);

}  // namespace ui
