#include "panels/settings/batch_finder.h"

#include <QLineEdit>
#include <QPushButton>

#include "models/settings_model.h"
#include "text/format.h"
#include "text/speedup_text.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

BatchFinder::BatchFinder(const Context& context, QWidget* parent)
    : QDialog(parent),
      context_(context),
      search_([this] { refresh(); }),
      memory_(new QLineEdit(this)),
      find_(new QPushButton(tr("Find"), this)),
      trials_(makeLabel({}, nullptr, this)),
      words_(makeProse({}, "dim", this)),
      use_(new QPushButton(this)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Find the largest batch"));
    auto* column =
        makeColumn(this, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    auto* what = makeLabel(tr("Trains a new model for a few steps with one batch size after "
                              "another. Nothing is saved."),
                           "dim", this);
    what->setWordWrap(true);
    column->addWidget(what);
    column->addLayout(makeLimit());
    trials_->setTextFormat(Qt::RichText);
    trials_->setAccessibleName(tr("Trials"));
    trials_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(trials_, 1);
    column->addWidget(words_);
    column->addLayout(makeFoot());
    resize(480, 360);
}

QLayout* BatchFinder::makeLimit() {
    auto* row = makeRow(size::gap);
    auto* label = makeLabel(tr("Memory limit"), nullptr, this);
    label->setBuddy(memory_);
    memory_->setAccessibleName(label->text());
    memory_->setPlaceholderText(tr("all free memory, or a size such as 2 GB"));
    find_->setDefault(true);
    connect(find_, &QPushButton::clicked, this, &BatchFinder::start);
    row->addWidget(label);
    row->addWidget(memory_, 1);
    row->addWidget(find_);
    return row;
}

QLayout* BatchFinder::makeFoot() {
    auto* foot = makeRow(size::gap);
    foot->addStretch();
    use_->setObjectName(u"useBatch"_s);
    use_->setAutoDefault(false);
    use_->hide();
    foot->addWidget(use_);
    auto* close = new QPushButton(tr("Close"), this);
    close->setAutoDefault(false);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    foot->addWidget(close);
    return foot;
}

void BatchFinder::start() {
    const std::string text = memory_->text().trimmed().toStdString();
    const std::int64_t memory = engine::parse_bytes(text);
    if (!text.empty() && memory == 0) {
        words_->setText(tr("%1 is not a size: use one such as 500 MB, 2 GB or 1.5 GiB.")
                            .arg(memory_->text().trimmed()));
        return;
    }
    find_->setEnabled(false);
    use_->hide();
    trials_->clear();
    words_->setText(tr("Preparing"));
    search_.start(
        [config = context_.settings->config(), memory](auto& link) {
            engine::FindBatchOptions options;
            options.memory = memory;
            options.before = [&link](std::int64_t batch) {
                link.report([batch](Progress& progress) { progress.trying = batch; });
                return !link.stopped();
            };
            options.after = [&link](const engine::BatchTrial& trial) {
                link.report([&trial](Progress& progress) { progress.trials.push_back(trial); });
            };
            return engine::find_largest_batch(config, options);
        },
        [this](const Outcome<engine::FoundBatch>& found) {
            refresh();
            find_->setEnabled(true);
            if (found.error)
                words_->setText(found.failure().sentence());
            else
                finish(*found.result);
        });
}

QString BatchFinder::trialRow(const engine::BatchTrial& trial) const {
    const Tokens& tokens = context_.theme->tokens();
    const QString outcome = trial.fits
                                ? bytes(trial.peak_bytes) + u" · "_s + milliseconds(trial.step_ms)
                                : tr("does not fit");
    const QString predicted = trial.predicted_bytes > 0
                                  ? tr("%1 predicted").arg(bytes(trial.predicted_bytes))
                                  : QString();
    return u"<tr><td align='right'><b>%1</b></td><td style='color:%4'>&nbsp;&nbsp;%2</td>"
           "<td style='color:%5'>&nbsp;&nbsp;%3</td></tr>"_s.arg(
               count(trial.batch_size), outcome, predicted,
               (trial.fits ? tokens.text : tokens.caution).name(), tokens.dim.name());
}

void BatchFinder::refresh() {
    const auto [trials, trying] = search_.progress();
    QString rows;
    for (const auto& trial : trials) rows += trialRow(trial);
    trials_->setText(u"<table>"_s + rows + u"</table>"_s);
    if (trying > 0) words_->setText(tr("Trying a batch of %1").arg(count(trying)));
}

void BatchFinder::finish(const engine::FoundBatch& found) {
    if (found.batch_size == 0) return words_->clear();
    QString text = tr("Largest batch: %1, with %2 of %3.")
                       .arg(batchText(found.batch_size), bytes(found.peak_bytes),
                            bytes(found.memory));
    if (found.too_large > 0) {
        text += u' ' + tr("A batch of %1 does not fit.").arg(count(found.too_large));
    } else if (found.at_search_limit()) {
        text += u' ' + tr("Larger ones are not tried.");
    } else if (found.batch_size == found.samples) {
        text += u' ' + tr("The training part has no more samples.");
    }
    words_->setText(text);
    const QString size = QString::number(found.batch_size);
    use_->setText(tr("Use %1").arg(size));
    use_->show();
    use_->disconnect(this);
    connect(use_, &QPushButton::clicked, this, [this, size] {
        context_.settings->set(u"batch_size"_s, size);
        close();
    });
}

}  // namespace ui
