#include "help/op_window.h"

#include <QCoreApplication>
#include <QDialog>
#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "engine/settings/catalog.h"
#include "models/row_model.h"
#include "text/language.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// The engine's operations: what each does inside an autocast region, which gradients it has, and
/// why it is treated so. The same table as `halftone ops`.
class OpModel final : public RowModel<engine::OpSummary> {
    Q_DECLARE_TR_FUNCTIONS(ui::OpModel)
public:
    enum Column { Name, Region, Gradients, Why };

    explicit OpModel(QObject* parent);

private:
    /// Tooltip of a name: the signature.
    QVariant value(const engine::OpSummary& op, int column, int role) const override {
        return role == Qt::ToolTipRole && column == Name ? QString::fromStdString(op.signature)
                                                         : QVariant();
    }
};

QString regionWords(const std::string& policy) {
    if (policy == "low") return OpModel::tr("16 bits");
    if (policy == "f32") return OpModel::tr("fp32");
    if (policy == "f32_dtype" || policy == "f32_append") return OpModel::tr("fp32 result");
    if (policy == "promote") return OpModel::tr("widest input");
    if (policy == "banned") return OpModel::tr("refused");
    return OpModel::tr("as its inputs");
}

QString gradientWords(int orders) {
    if (orders == 0) return OpModel::tr("none");
    return orders == 1 ? OpModel::tr("first") : OpModel::tr("first, second");
}

OpModel::OpModel(QObject* parent) : RowModel(parent) {
    using engine::OpSummary;
    columns_ = {
        {tr("Operation"), [](const OpSummary& op) { return QString::fromStdString(op.name); }},
        {tr("Under autocast"), [](const OpSummary& op) { return regionWords(op.policy); }},
        {tr("Gradients"), [](const OpSummary& op) { return gradientWords(op.derivatives); }},
        {tr("Why"), [](const OpSummary& op) { return engineText(op.why); }}};
    setRows(engine::ops());
}

struct OpWindow {
    Q_DECLARE_TR_FUNCTIONS(OpWindow)
};

QTableView* makeTable(QAbstractItemModel* model, QWidget* parent) {
    auto* table = withName(new QTableView(parent), u"operations"_s);
    table->setModel(model);
    table->setShowGrid(false);
    table->setWordWrap(true);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setAccessibleName(OpWindow::tr("Operations"));
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    auto* head = table->horizontalHeader();
    head->setSectionResizeMode(QHeaderView::ResizeToContents);
    head->setSectionResizeMode(OpModel::Why, QHeaderView::Stretch);
    head->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    head->setHighlightSections(false);
    table->setSortingEnabled(true);
    table->sortByColumn(OpModel::Name, Qt::AscendingOrder);
    return table;
}

}  // namespace

void showOperations(QWidget* parent) {
    auto* window = new QDialog(parent);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->setWindowTitle(OpWindow::tr("Autocast op rules"));
    auto* column =
        makeColumn(window, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    auto* words = makeLabel(
        OpWindow::tr(
            "The type in which autocast computes each operation: 16 bits, fp32, the widest type of "
            "its inputs, or the type they have. Hover over a name for its arguments."),
        "dim", window);
    words->setWordWrap(true);
    column->addWidget(words);
    auto* search = new QLineEdit(window);
    search->setPlaceholderText(OpWindow::tr("Search names and reasons"));
    search->setClearButtonEnabled(true);
    column->addWidget(search);

    auto* rows = new QSortFilterProxyModel(window);
    rows->setSourceModel(new OpModel(rows));
    rows->setFilterKeyColumn(-1);
    rows->setFilterCaseSensitivity(Qt::CaseInsensitive);
    auto* card = makeCard(window);
    auto* inside = makeColumn(card, {size::grid, size::grid, size::grid, size::grid});
    inside->addWidget(makeTable(rows, card));
    column->addWidget(card, 1);
    auto* found = makeLabel({}, "dim", window);
    column->addWidget(found);
    const auto recount = [rows, found] {
        found->setText(OpWindow::tr("%1 operations").arg(rows->rowCount()));
    };
    recount();
    QObject::connect(search, &QLineEdit::textChanged, rows, [rows, recount](const QString& text) {
        rows->setFilterFixedString(text);
        recount();
    });
    window->resize(900, 640);
    window->show();
    search->setFocus();
}

}  // namespace ui
