#include "help/op_window.h"

#include <QCoreApplication>
#include <QDialog>
#include <QFrame>
#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "models/op_model.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct OpWindow {
    Q_DECLARE_TR_FUNCTIONS(OpWindow)
};

QTableView* makeTable(QAbstractItemModel* model, QWidget* parent) {
    auto* table = new QTableView(parent);
    table->setObjectName(u"operations"_s);
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
    auto* column = new QVBoxLayout(window);
    column->setContentsMargins(size::inside, size::inside, size::inside, size::inside);
    column->setSpacing(size::gap);
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
    auto* card = new QFrame(window);
    card->setObjectName(u"card"_s);
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(size::grid, size::grid, size::grid, size::grid);
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
