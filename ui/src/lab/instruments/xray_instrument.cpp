#include <QCoreApplication>
#include <QGridLayout>
#include <algorithm>
#include <map>

#include "engine/instruments/xray.h"
#include "feed/background_task.h"
#include "lab/instruments/instrument.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// The operations of the first step: the types that each reads, computes in and writes, and the
/// rule that decided. Traced off the window's thread once the runs have begun.
class XrayInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::XrayInstrument)
public:
    explicit XrayInstrument(const InstrumentSetup& from);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    using Traced = Outcome<engine::Xray>;
    void trace(const std::string& run, const engine::RunConfig& config);
    void show();
    void addRun(const std::string& run, const Traced& traced);
    void addOp(const engine::XrayOp& op);
    bool wanted(const engine::XrayOp& op) const;

    std::vector<std::string> runs_;
    std::map<std::string, Traced> traced_;
    std::map<std::string, bool> asked_;
    QWidget* table_ = nullptr;
    QGridLayout* grid_ = nullptr;
};

constexpr int maxRows = 24;

/// "FP16" for f16, as lessons write it.
QString typeTitle(const std::string& dtype) {
    if (dtype.empty()) return u"–"_s;
    const QString text = QString::fromStdString(dtype).toUpper();
    return text.startsWith(u'F') ? u"FP"_s + text.mid(1) : text;
}

}  // namespace

XrayInstrument::XrayInstrument(const InstrumentSetup& from) : Instrument(from) {
    runs_ = instrument_.runs;
    if (runs_.empty() && !model_->lesson()->runs.empty())
        runs_.push_back(model_->lesson()->runs.front().name);
    makeColumn(this, {size::inside, size::grid, size::inside, size::gap});
    show();
}

QString XrayInstrument::title() const { return tr("What runs where"); }

QString XrayInstrument::note() const {
    return traced_.empty() ? QString() : tr("first step, forward");
}

void XrayInstrument::showStep(std::int64_t step) {
    if (step == 0 && model_->runs()->phase() == LessonRuns::Phase::notRun) {
        if (!asked_.empty()) {
            asked_.clear();
            traced_.clear();
            show();
        }
        return;
    }
    for (const auto& run : model_->runs()->snapshot().runs) {
        const bool shown = std::ranges::find(runs_, run.name) != runs_.end();
        if (shown && run.started && !std::exchange(asked_[run.name], true))
            trace(run.name, run.started->config);
    }
}

void XrayInstrument::trace(const std::string& run, const engine::RunConfig& config) {
    inBackground(
        this, [config] { return engine::xray_first_step(config); },
        [this, run](const Traced& traced) {
            if (!asked_[run]) return;
            traced_[run] = traced;
            show();
            emit noteChanged();
        });
}

bool XrayInstrument::wanted(const engine::XrayOp& op) const {
    if (op.pass != engine::XrayPass::forward) return false;
    if (instrument_.ops.empty()) return true;
    return std::ranges::any_of(instrument_.ops, [&](const std::string& name) {
        return name == op.op || name == op.module + ':' + op.op;
    });
}

void XrayInstrument::show() {
    delete table_;
    table_ = new QWidget(this);
    grid_ = new QGridLayout(table_);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(size::inside);
    grid_->setVerticalSpacing(3);
    grid_->setColumnStretch(0, 1);
    if (traced_.empty()) {
        grid_->addWidget(makeLabel(tr("Predict, then run."), "dim", table_), 0, 0);
    }
    for (const auto& run : runs_) {
        const auto found = traced_.find(run);
        if (found != traced_.end()) addRun(run, found->second);
    }
    layout()->addWidget(table_);
}

void XrayInstrument::addRun(const std::string& run, const Traced& traced) {
    const auto* settings = engine::find_run(*model_->lesson(), run);
    const QColor color = context_.theme->precision(traced.result->precision);
    const QString label = QString::fromStdString(settings != nullptr ? settings->label : run);
    const int row = grid_->rowCount();
    grid_->addWidget(
        makeLabel(u"<b style='color:%1'>%2</b>"_s.arg(color.name(), label.toHtmlEscaped()), nullptr,
                  table_),
        row, 0);
    for (const auto& [column, name] :
         {std::pair{1, tr("reads")}, {2, tr("computes in")}, {3, tr("writes")}})
        grid_->addWidget(makeLabel(name, "dim", table_), row, column);
    if (traced.error) {
        auto* words = makeProse(traced.failure().sentence(), "bad", table_);
        grid_->addWidget(words, row + 1, 0, 1, 4);
        return;
    }
    int rows = 0;
    for (const auto& op : traced.result->ops) {
        if (wanted(op) && rows++ < maxRows) addOp(op);
    }
    if (rows > maxRows)
        grid_->addWidget(makeLabel(tr("and %1 more").arg(rows - maxRows), "dim", table_),
                         grid_->rowCount(), 0);
}

void XrayInstrument::addOp(const engine::XrayOp& op) {
    const int row = grid_->rowCount();
    const auto type = [](const std::vector<engine::XrayTensor>& tensors) {
        return tensors.empty() ? u"–"_s : typeTitle(tensors.front().dtype);
    };
    // The operation first: where a name does not fit, its end is missing.
    const QString name =
        QString::fromStdString(op.op) +
        (op.module.empty() ? QString() : u" · "_s + QString::fromStdString(op.module));
    auto* label = new ElidedLabel(table_);
    label->setText(name);
    label->setToolTip(
        u"<p>%1</p><p>%2</p>"_s.arg(name.toHtmlEscaped(), engineText(op.why).toHtmlEscaped()));
    grid_->addWidget(label, row, 0);
    grid_->addWidget(makeLabel(type(op.inputs), nullptr, table_), row, 1);
    grid_->addWidget(makeLabel(typeTitle(op.compute_dtype), nullptr, table_), row, 2);
    grid_->addWidget(makeLabel(type(op.outputs), nullptr, table_), row, 3);
}

Instrument* makeXrayInstrument(const InstrumentSetup& from) { return new XrayInstrument(from); }

}  // namespace ui
