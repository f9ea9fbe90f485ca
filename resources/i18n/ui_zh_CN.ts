<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>MetricWords</name>
<message><source>test acc.</source><translation>测试准确率</translation></message>
<message><source>test %1</source><translation>测试%1</translation></message>
<message><source>samples/s</source><translation>样本/秒</translation></message>
<message><source>rows/s</source><translation>行/秒</translation></message>
<message><source>tokens/s</source><translation>词元/秒</translation></message>
    </context>
    <context>
        <name>ButtonStates</name>
<message><source>The first steps of the settings are being tried.</source><translation>正在试算这些设置的最初几步。</translation></message>
<message><source>Several workers train this run: it can be stopped, but not paused.</source><translation>此运行由多个工作进程训练：可以停止，但不能暂停。</translation></message>
<message><source>Nothing is running.</source><translation>当前没有训练。</translation></message>
<message><source>Stopping: the current step ends first.</source><translation>正在停止：先完成当前这一步。</translation></message>
<message><source>Pause first, then go step by step.</source><translation>先暂停，再单步执行。</translation></message>
<message><source>A run is in progress. Stop it first.</source><translation>正在训练，请先停止。</translation></message>
<message><source>The runs on screen have ended. Compare or Start begins new ones.</source><translation>屏幕上的运行已结束。请用“对比”或“开始”启动新的运行。</translation></message>
    </context>
    <context>
        <name>ui::OpModel</name>
<message><source>16 bits</source><translation>16 位</translation></message>
<message><source>fp32</source><translation>fp32</translation></message>
<message><source>fp32 result</source><translation>结果为 fp32</translation></message>
<message><source>widest input</source><translation>输入中最宽的类型</translation></message>
<message><source>refused</source><translation>不允许</translation></message>
<message><source>as its inputs</source><translation>与输入相同</translation></message>
<message><source>none</source><translation>无</translation></message>
<message><source>first</source><translation>一阶</translation></message>
<message><source>first, second</source><translation>一阶、二阶</translation></message>
<message><source>Operation</source><translation>算子</translation></message>
<message><source>Gradients</source><translation>梯度</translation></message>
<message><source>Why</source><translation>原因</translation></message>
<message><source>Under autocast</source><translation>自动混合精度下</translation></message>
    </context>
    <context>
        <name>OpWindow</name>
<message><source>Operations</source><translation>算子</translation></message>
<message><source>Search names and reasons</source><translation>搜索名称和原因</translation></message>
<message><source>%1 operations</source><translation>%1 个算子</translation></message>
<message><source>Autocast op rules</source><translation>自动混合精度的算子规则</translation></message>
<message><source>The type in which autocast computes each operation: 16 bits, fp32, the widest type of its inputs, or the type they have. Hover over a name for its arguments.</source><translation>自动混合精度下每个算子的计算类型：16 位、fp32、输入中最宽的类型，或与输入相同的类型。将鼠标停在名称上可查看参数。</translation></message>
    </context>
    <context>
        <name>EventWords</name>
<message><source>Calibrating: the scaler is still looking for a scale that fits.</source><translation>校准中：缩放器仍在寻找合适的缩放因子。</translation></message>
<message><source>Normal: the scale had grown past the largest safe one.</source><translation>正常：缩放因子已增长到超过最大安全值。</translation></message>
<message><source>%1 clean steps: scale %2 → %3.</source><translation>连续 %1 步无溢出：缩放因子 %2 → %3。</translation></message>
<message><source>Epoch %1 done.</source><translation>第 %1 轮完成。</translation></message>
<message><source>Test accuracy %1.</source><translation>测试准确率 %1。</translation></message>
<message><source>Training loss %1</source><translation>训练损失 %1</translation></message>
<message><source>, test loss %1</source><translation>，测试损失 %1</translation></message>
<message><source>, took %1.</source><translation>，用时 %1。</translation></message>
<message><source>Run %1 started on %2.</source><translation>运行 %1 在 %2 上开始。</translation></message>
<message><source>%1 steps, %2 skipped</source><translation>%1 步，跳过 %2 步</translation></message>
<message><source>, %1 damaged samples replaced</source><translation>，代替了 %1 个损坏的样本</translation></message>
<message><source>, test accuracy %1</source><translation>，测试准确率 %1</translation></message>
<message><source>.</source><translation>。</translation></message>
<message><source>Stopped on request. The run is kept.</source><translation>已按要求停止，运行记录已保留。</translation></message>
<message><source>Diverged: the loss stayed NaN or infinite.</source><translation>已发散：损失一直为 NaN 或无穷大。</translation></message>
<message><source>Ended early: the metric has stopped improving.</source><translation>提前结束：指标已不再改善。</translation></message>
<message><source>Ended by an error.</source><translation>因错误结束。</translation></message>
<message><source>Ready</source><translation>就绪</translation></message>
<message><source>Preparing</source><translation>准备中</translation></message>
<message><source>Training</source><translation>训练</translation></message>
<message><source>Paused</source><translation>已暂停</translation></message>
<message><source>Evaluating</source><translation>评估中</translation></message>
<message><source>Stopping</source><translation>正在停止</translation></message>
<message><source>Done</source><translation>完成</translation></message>
<message><source>Failed</source><translation>失败</translation></message>
<message><source>The forward pass already broke.</source><translation>前向传播已经出错。</translation></message>
<message><source>Skip after skip: not the scale.</source><translation>接连跳过：问题不在缩放因子。</translation></message>
<message><source>Benign: the scaler is still looking for a scale that fits.</source><translation>无害：缩放器仍在寻找合适的缩放因子。</translation></message>
<message><source>Benign: the scale was too large.</source><translation>无害：缩放因子偏大。</translation></message>
<message><source>At scale %1 a gradient exceeded 65,504, the largest FP16 number.</source><translation>缩放因子为 %1 时，有梯度超过了 FP16 的最大值 65,504。</translation></message>
<message><source>The weights did not change.</source><translation>权重保持不变。</translation></message>
<message><source>The scale went down to %1.</source><translation>缩放因子降为 %1。</translation></message>
<message><source>The loss is not finite.</source><translation>损失不是有限值。</translation></message>
<message><source>It is %1. Only a dynamic scaler skips such a step, and this run has none: the weights are damaged.</source><translation>损失为 %1。只有动态缩放器会跳过这样的步，而此运行没有：权重已受损。</translation></message>
<message><source>Applied, and the scale grew.</source><translation>已更新，缩放因子增大。</translation></message>
<message><source>%1 clean steps filled the growth interval: the scale goes from %2 to %3.</source><translation>连续 %1 步无溢出，达到增长间隔：缩放因子从 %2 变为 %3。</translation></message>
<message><source>Applied, but many updates were lost.</source><translation>已更新，但许多更新量丢失了。</translation></message>
<message><source>%1 of the weight updates are smaller than half a unit in the last place of the weight, so rounding discards them.</source><translation>%1 的权重更新量小于权重最低位的一半（0.5 ulp），舍入后消失。</translation></message>
<message><source>Applied.</source><translation>已更新。</translation></message>
<message><source>This run needs no loss scale.</source><translation>这次运行不需要损失缩放。</translation></message>
<message><source>All gradients were finite, so the weights moved.</source><translation>所有梯度都有限，权重已更新。</translation></message>
<message><source>FP16 rounds a gradient of 2⁻²⁵ or less to 0.</source><translation>FP16 会把不超过 2⁻²⁵ 的梯度舍入为 0。</translation></message>
<message><source>Applied without loss scaling.</source><translation>已更新，未使用损失缩放。</translation></message>
<message><source>Applied, but most gradients are 0.</source><translation>已更新，但大部分梯度为 0。</translation></message>
<message><source>%1 of the gradients are exactly 0, so these weights cannot learn.</source><translation>%1 的梯度恰好为 0，对应的权重学不到东西。</translation></message>
<message><source>Loss scaling keeps small gradients in range.</source><translation>损失缩放能让小梯度留在可表示范围内。</translation></message>
<message><source>Tested at step %1.</source><translation>第 %1 步的测试结果。</translation></message>
<message><source>diverged</source><translation>发散</translation></message>
<message><source>diverged at step %1</source><translation>在第 %1 步发散</translation></message>
<message><source>Persistent: lowering the scale cannot fix a NaN in the forward pass.</source><translation>持续：降低缩放无法修复前向传播中的 NaN。</translation></message>
<message><source>Skipped: the loss is %1.</source><translation>已跳过：损失为 %1。</translation></message>
<message><source>Skipped: a gradient overflowed.</source><translation>已跳过：梯度溢出。</translation></message>
<message><source>Scale %1 → %2.</source><translation>缩放 %1 → %2。</translation></message>
<message><source>The scale stays at %1.</source><translation>缩放保持在 %1。</translation></message>
<message><source>Skipped %1–%2, %3 times.</source><translation>跳过第 %1–%2 步，共 %3 次。</translation></message>
<message><source>The loss is %1.</source><translation>损失为 %1。</translation></message>
<message><source>Diverged: the loss is NaN or infinite from step %1 on.</source><translation>已发散：从第 %1 步起损失为 NaN 或无穷大。</translation></message>
<message><source>Finished 1 epoch.</source><translation>已完成 1 轮。</translation></message>
<message><source>Finished %1 epochs.</source><translation>已完成 %1 轮。</translation></message>
<message><source>Finished %1 steps, the limit.</source><translation>已完成 %1 步，达到上限。</translation></message>
<message><source>The loss itself is %1, so no loss scale can fix it. Look for inputs, weights or a learning rate that are too large.</source><translation>损失本身为 %1，任何损失缩放都无法修复。请检查输入、权重或学习率是否过大。</translation></message>
<message><source>Many steps in a row were skipped, and the gradients are not finite even at scale %1. Look for a NaN in the backward pass.</source><translation>已连续跳过多步，缩放降到 %1 时梯度仍不是有限值。请检查反向传播中是否出现 NaN。</translation></message>
<message><source>Calibrating: the scale was still too large.</source><translation>校准中：缩放当时仍过大。</translation></message>
<message><source>One more skip would lower it to %1, the default.</source><translation>再跳过一步就会降到默认值 %1。</translation></message>
<message><source>About %1 more skips would lower it to %2, the default.</source><translation>大约再跳过 %1 步会降到默认值 %2。</translation></message>
<message><source>Persistent: the gradients are not finite even at scale %1, so look for a NaN in the backward pass.</source><translation>持续：缩放降到 %1 时梯度仍不是有限值，请检查反向传播中是否出现 NaN。</translation></message>
<message><source>%1 parameters, %2 training %3.</source><translation>%1 个参数，训练集 %2（%3）。</translation></message>
<message><source>, test %1 %2</source><translation>，测试%1 %2</translation></message>
<message><source>, validation loss %1</source><translation>，验证损失 %1</translation></message>
<message><source>Test %1 %2.</source><translation>测试%1 %2。</translation></message>
<message><source>Resumed after step %1.</source><translation>在第 %1 步之后恢复。</translation></message>
<message><source>Continues run %2 after step %1.</source><translation>从运行 %2 的第 %1 步之后继续。</translation></message>
<message><source>Checkpoint saved, the best so far.</source><translation>已保存检查点，目前最佳。</translation></message>
<message><source>Checkpoint saved.</source><translation>已保存检查点。</translation></message>
<message><source>%1, written in %2.</source><translation>%1，写入用时 %2。</translation></message>
<message><source>Run %1 is trained by %2.</source><translation>运行 %1 由 %2 训练。</translation></message>
<message><source>Step %1 damaged the state.</source><translation>第 %1 步损坏了状态。</translation></message>
<message><source>The gradients overflowed, and the step was applied.</source><translation>梯度溢出，而该步仍被应用。</translation></message>
<message><source>A static scaler skips nothing: the weights of these gradients are no numbers from here on.</source><translation>静态缩放不会跳过任何步：对应的权重从此不再是有效数值。</translation></message>
<message><source>Only a dynamic scaler skips such a step: the weights of these gradients are no numbers from here on.</source><translation>只有动态缩放才会跳过这样的步：对应的权重从此不再是有效数值。</translation></message>
</context>
    <context>
        <name>ui::PageStack</name>
<message><source>Pages</source><translation>页面</translation></message>
<message><source>This page needs a run. Start one, or select one under Runs.</source><translation>此页面需要一次运行。请先开始训练，或在运行历史中选择一个。</translation></message>
    </context>
    <context>
        <name>Pages</name>
<message><source>Benchmarks</source><translation>性能对比</translation></message>
<message><source>Queue</source><translation>队列</translation></message>
<message><source>Training</source><translation>训练</translation></message>
<message><source>Try it</source><translation>试用</translation></message>
<message><source>Runs</source><translation>运行</translation></message>
<message><source>Microscope</source><translation>显微镜</translation></message>
<message><source>Twin</source><translation>孪生</translation></message>
<message><source>X-ray</source><translation>X 光</translation></message>
<message><source>Skips</source><translation>跳过</translation></message>
<message><source>Lab</source><translation>实验室</translation></message>
<message><source>Network</source><translation>网络</translation></message>
    </context>
    <context>
        <name>Panels</name>
<message><source>Fourth plot</source><translation>第四幅图</translation></message>
<message><source>Settings</source><translation>设置</translation></message>
<message><source>Selected step</source><translation>所选步</translation></message>
<message><source>Runs</source><translation>运行历史</translation></message>
<message><source>Events</source><translation>事件</translation></message>
<message><source>Hardware</source><translation>硬件</translation></message>
    </context>
    <context>
        <name>PlotSpecs</name>
<message><source>Loss</source><translation>损失</translation></message>
<message><source>Accuracy</source><translation>准确率</translation></message>
<message><source>Training accuracy will appear here as a line, test accuracy as dots.</source><translation>这里将以曲线显示训练准确率，以圆点显示测试准确率。</translation></message>
<message><source>train line · test dots</source><translation>曲线为训练，圆点为测试</translation></message>
<message><source>Loss scale</source><translation>损失缩放</translation></message>
<message><source>Gradient norm</source><translation>梯度范数</translation></message>
<message><source>Memory</source><translation>内存</translation></message>
<message><source>Memory in use after each step will appear here.</source><translation>这里将显示每一步之后占用的内存。</translation></message>
<message><source>The loss of each step will appear here, one curve per run.</source><translation>这里将显示每一步的损失，每次运行一条曲线。</translation></message>
<message><source>loss, unscaled mean over the batch</source><translation>损失（未缩放，批内均值）</translation></message>
<message><source>accuracy (%)</source><translation>准确率（%）</translation></message>
<message><source>The loss scale will appear here as a staircase, skipped steps as red ticks.</source><translation>这里将以阶梯线显示损失缩放因子，红色刻度为跳过的步。</translation></message>
<message><source>loss scale</source><translation>损失缩放因子</translation></message>
<message><source>shaded: safe range</source><translation>阴影：安全范围</translation></message>
<message><source>The norm of the unscaled gradients will appear here.</source><translation>这里将显示未缩放梯度的范数。</translation></message>
<message><source>gradient norm (L2, unscaled)</source><translation>梯度范数（L2，未缩放）</translation></message>
<message><source>The throughput of each run will appear here, without the time that other runs take.</source><translation>这里将显示每次运行自身的吞吐量，不含其他运行占用的时间。</translation></message>
<message><source>memory in use</source><translation>占用内存</translation></message>
<message><source>Learning rate</source><translation>学习率</translation></message>
<message><source>learning rate</source><translation>学习率</translation></message>
<message><source>The learning rate of each step will appear here.</source><translation>这里将显示每一步的学习率。</translation></message>
<message><source>LR</source><translation>学习率</translation></message>
<message><source>%1 of each training step will appear here as a line, that of the test part as dots.</source><translation>此处将显示%1：曲线为训练步，圆点为测试集。</translation></message>
<message><source>throughput (%1)</source><translation>吞吐量（%1）</translation></message>
<message><source>Which metric the plot shows</source><translation>图中显示的指标</translation></message>
<message><source>What the fourth plot shows</source><translation>第四幅图显示的内容</translation></message>
<message><source>Grad norm</source><translation>梯度范数</translation></message>
<message><source>Figures of runs on an NVIDIA GPU will appear here, read once a second through the driver&apos;s libnvidia-ml.so.1.</source><translation>在 NVIDIA GPU 上训练的运行，其数据会显示在这里：每秒通过驱动自带的 libnvidia-ml.so.1 读取一次。</translation></message>
<message><source>GPU load</source><translation>GPU 负载</translation></message>
<message><source>GPU memory</source><translation>GPU 显存</translation></message>
<message><source>GPU power</source><translation>GPU 功率</translation></message>
<message><source>GPU temperature</source><translation>GPU 温度</translation></message>
<message><source>GPU energy</source><translation>GPU 能耗</translation></message>
<message><source>CPU energy</source><translation>CPU 能耗</translation></message>
<message><source>Energy of the processor will appear here for runs where Linux lets it be read (RAPL).</source><translation>处理器的能耗会显示在这里：仅限 Linux 允许读取（RAPL）的运行。</translation></message>
<message><source>Which figure of the hardware the plot shows</source><translation>此图显示哪项硬件数据</translation></message>
    </context>
    <context>
        <name>ReportPage</name>
<message><source>Halftone: training report</source><translation>Halftone：训练报告</translation></message>
<message><source>run</source><translation>运行</translation></message>
<message><source>seed</source><translation>随机种子</translation></message>
<message><source>test loss</source><translation>测试损失</translation></message>
<message><source>test accuracy</source><translation>测试准确率</translation></message>
<message><source>mean time per step</source><translation>平均每步用时</translation></message>
<message><source>peak memory</source><translation>内存峰值</translation></message>
<message><source>steps</source><translation>步数</translation></message>
<message><source>updates</source><translation>更新次数</translation></message>
<message><source>skipped</source><translation>跳过</translation></message>
<message><source>growths</source><translation>增长次数</translation></message>
<message><source>Loss scale: %1</source><translation>损失缩放：%1</translation></message>
<message><source>step</source><translation>步</translation></message>
<message><source>what happened</source><translation>发生了什么</translation></message>
<message><source>what it means</source><translation>意味着什么</translation></message>
<message><source>and %1 more</source><translation>另有 %1 项</translation></message>
<message><source>Settings: %1</source><translation>设置：%1</translation></message>
<message><source>test %1</source><translation>测试%1</translation></message>
    </context>
    <context>
        <name>ui::Application</name>
<message><source>Folder for runs</source><translation>保存运行的文件夹</translation></message>
<message><source>%1 % · Halftone</source><translation>%1 % · Halftone</translation></message>
</context>
    <context>
        <name>ui::BatchFinder</name>
<message><source>Find</source><translation>查找</translation></message>
<message><source>Find the largest batch</source><translation>查找最大批次</translation></message>
<message><source>Trains a new model for a few steps with one batch size after another. Nothing is saved.</source><translation>用全新的模型依次以不同批次大小训练几步，不保留任何结果。</translation></message>
<message><source>Trials</source><translation>各次尝试</translation></message>
<message><source>Memory limit</source><translation>内存上限</translation></message>
<message><source>all free memory, or a size such as 2 GB</source><translation>全部可用内存，或如 2 GB</translation></message>
<message><source>Close</source><translation>关闭</translation></message>
<message><source>%1 is not a size: use one such as 500 MB, 2 GB or 1.5 GiB.</source><translation>%1 不是有效大小：请用如 500 MB、2 GB 或 1.5 GiB 的写法。</translation></message>
<message><source>Preparing</source><translation>正在准备</translation></message>
<message><source>does not fit</source><translation>放不下</translation></message>
<message><source>%1 predicted</source><translation>预测 %1</translation></message>
<message><source>Trying a batch of %1</source><translation>正在尝试批次 %1</translation></message>
<message><source>Largest batch: %1, with %2 of %3.</source><translation>最大批次：%1，占用 %2（上限 %3）。</translation></message>
<message><source>A batch of %1 does not fit.</source><translation>批次 %1 放不下。</translation></message>
<message><source>The training part has no more samples.</source><translation>训练部分没有更多样本。</translation></message>
<message><source>Use %1</source><translation>采用 %1</translation></message>
<message><source>Larger ones are not tried.</source><translation>不再尝试更大的批量。</translation></message>
    </context>
    <context>
        <name>ui::BitStrip</name>
<message><source>%1: 1 sign bit, %2 exponent bits, %3 fraction bits</source><translation>%1：1 位符号，%2 位指数，%3 位尾数</translation></message>
    </context>
    <context>
        <name>ui::CommandBar</name>
<message><source>Start</source><translation>开始</translation></message>
<message><source>Pause</source><translation>暂停</translation></message>
<message><source>Step</source><translation>单步</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
<message><source>Device</source><translation>设备</translation></message>
<message><source>Steps</source><translation>步数</translation></message>
<message><source>Updates</source><translation>更新</translation></message>
<message><source>Skipped steps</source><translation>跳过的步</translation></message>
<message><source>Compare %1 precisions</source><translation>对比 %1 种精度</translation></message>
<message><source>Compare %1</source><translation>对比 %1</translation></message>
<message><source>Resume</source><translation>继续</translation></message>
<message><source>Train the same network in each of these precisions, side by side</source><translation>用这些精度并排训练同一个网络</translation></message>
<message><source>Train one run with the settings</source><translation>按当前设置训练一次</translation></message>
<message><source>Continue training</source><translation>继续训练</translation></message>
<message><source>Pause after the current step</source><translation>完成当前这一步后暂停</translation></message>
<message><source>One step, then pause</source><translation>执行一步后暂停</translation></message>
<message><source>Stop after the current step; the run is kept</source><translation>完成当前这一步后停止，运行记录保留</translation></message>
<message><source>Skipped</source><translation>跳过</translation></message>
<message><source>Steps of %1</source><translation>%1 的步数</translation></message>
<message><source>%1: %2 steps, %3 updates, %4 skipped</source><translation>%1：%2 步，%3 次更新，跳过 %4 步</translation></message>
<message><source>checking this machine…</source><translation>正在检查本机…</translation></message>
<message><source>BF16 native</source><translation>BF16 原生</translation></message>
<message><source>BF16 emulated</source><translation>BF16 模拟</translation></message>
<message><source>FP16 native</source><translation>FP16 原生</translation></message>
<message><source>FP16 emulated</source><translation>FP16 模拟</translation></message>
<message><source>%1, %2 cores, %3 of memory</source><translation>%1，%2 个核心，%3 内存</translation></message>
<message><source>Start the comparison with one step, then pause</source><translation>开始对比，走一步后暂停</translation></message>
<message><source>Train the runs of the lesson, side by side</source><translation>并行训练本课的各个实验</translation></message>
<message><source>Stop after the current step</source><translation>完成当前步后停止</translation></message>
</context>
    <context>
        <name>ui::Commands</name>
<message><source>Several workers train one run: use Start, or set the workers to 1.</source><translation>多个工作进程只训练一个运行：请用“开始”，或把工作进程数设为 1。</translation></message>
<message><source>A run is in progress.</source><translation>有运行正在进行。</translation></message>
<message><source>Stop it before you resume another one.</source><translation>请先停止它，再恢复另一个。</translation></message>
<message><source>An earlier checkpoint is used.</source><translation>改用更早的检查点。</translation></message>
<message><source>A twin needs two precisions.</source><translation>孪生对比需要两种精度。</translation></message>
<message><source>Add one under Compared, such as FP32 beside AMP FP16.</source><translation>请在“对比”下再添加一种，例如在 AMP FP16 之外添加 FP32。</translation></message>
<message><source>Put the data back as they were, or resume the run once more and go on with these.</source><translation>请把数据恢复原样，或再次恢复该运行并使用这些数据继续。</translation></message>
    </context>
    <context>
        <name>ui::PathOpener</name>
<message><source>Halftone cannot open this file: %1.</source><translation>Halftone 无法打开此文件：%1。</translation></message>
<message><source>Open a data set (MNIST, Fashion-MNIST, CIFAR-10, CIFAR-100), a table in CSV, a text, a settings file in JSON, the folder of a run, a run that was exported (.halftone), a network (.network), or event files of TensorBoard.</source><translation>可打开数据集（MNIST、Fashion-MNIST、CIFAR-10、CIFAR-100）、CSV 表格、文本、JSON 设置文件、运行文件夹、导出的运行（.halftone）、网络（.network），或 TensorBoard 的事件文件。</translation></message>
<message><source>There is no run in %1 yet.</source><translation>%1 中还没有运行。</translation></message>
<message><source>It opens here as soon as a program begins to write one.</source><translation>一旦有程序开始写入，就会在这里打开。</translation></message>
    </context>
    <context>
        <name>ui::DataPreview</name>
<message><source>Samples of the data set</source><translation>数据集样本</translation></message>
<message><source>Choose a folder…</source><translation>选择文件夹…</translation></message>
<message><source>Choose a file…</source><translation>选择文件…</translation></message>
<message><source>Folder of the data set</source><translation>数据集文件夹</translation></message>
<message><source>File of the data set</source><translation>数据集文件</translation></message>
<message><source>Reading…</source><translation>正在读取…</translation></message>
<message><source>change path</source><translation>更改路径</translation></message>
<message><source>Choose…</source><translation>选择…</translation></message>
<message><source>%1 classes</source><translation>%1 类</translation></message>
<message><source>%1 different characters</source><translation>%1 个不同字符</translation></message>
<message><source>%1 tokens in the vocabulary</source><translation>词表有 %1 个词元</translation></message>
<message><source>%1 different words</source><translation>%1 个不同的词</translation></message>
<message><source>%1 test</source><translation>测试 %1</translation></message>
<message><source>%1 train</source><translation>训练 %1</translation></message>
<message><source>%1 validation</source><translation>验证 %1</translation></message>
<message><source>Reading %1 of %2 files…</source><translation>正在读取 %1 / %2 个文件…</translation></message>
<message><source>Reading %1 of %2…</source><translation>正在读取 %1 / %2…</translation></message>
    </context>
    <context>
        <name>ui::EventPanel</name>
<message><source>Which events are shown</source><translation>显示哪些事件</translation></message>
<message><source>all</source><translation>全部</translation></message>
<message><source>skips</source><translation>跳过</translation></message>
<message><source>loss scale</source><translation>损失缩放</translation></message>
<message><source>epochs</source><translation>轮次</translation></message>
<message><source>Nothing of this kind has happened yet.</source><translation>还没有发生这类事件。</translation></message>
<message><source>Events</source><translation>事件</translation></message>
<message><source>Skipped steps, scale growth and finished epochs will be listed here.</source><translation>跳过的步、缩放因子的增长和完成的轮次会列在这里。</translation></message>
    </context>
    <context>
        <name>ui::GuideCard</name>
<message><source>Select its last step</source><translation>选中其最后一步</translation></message>
<message><source>Close this guide</source><translation>关闭此说明</translation></message>
<message><source>One network, three times. The third run computes in FP16 without loss scaling: its gradients are too small for FP16, so it does not learn.</source><translation>同一个网络训练三次。第三次用 FP16 计算但不做损失缩放：梯度小到 FP16 无法表示，因此学不到东西。</translation></message>
<message><source>After %1 steps the loss is %2 in FP32, %3 in AMP FP16 and %4 without scaling, where %5 of the gradients are 0 (%6 in FP32).</source><translation>%1 步之后，损失在 FP32 下为 %2，AMP FP16 下为 %3，不缩放时为 %4，且 %5 的梯度为 0（FP32 下为 %6）。</translation></message>
<message><source>Loss:</source><translation>损失：</translation></message>
<message><source>FP32 and AMP FP16 fall, %1 stays flat.</source><translation>FP32 和 AMP FP16 下降，%1 始终不变。</translation></message>
<message><source>Loss scale:</source><translation>损失缩放：</translation></message>
<message><source>AMP FP16 multiplies the loss by it, which lifts small gradients above 2⁻²⁵, where FP16 rounds to 0.</source><translation>AMP FP16 先把损失乘上它，小梯度因此高于 2⁻²⁵；不超过这个值时 FP16 会舍入为 0。</translation></message>
<message><source>Selected step:</source><translation>选中的步：</translation></message>
<message><source>how many gradients of %1 are 0.</source><translation>%1 中有多少梯度为 0。</translation></message>
<message><source>Why scale the loss?</source><translation>为什么要做损失缩放？</translation></message>
<message><source>What to look at</source><translation>看什么</translation></message>
    </context>
    <context>
        <name>ui::HistoryPanel</name>
<message><source>Pause</source><translation>暂停</translation></message>
<message><source>Go on</source><translation>继续</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
<message><source>Export run…</source><translation>导出运行…</translation></message>
<message><source>Run history</source><translation>运行历史</translation></message>
<message><source>The run in %1 is not in the history.</source><translation>%1 中的运行不在历史里。</translation></message>
<message><source>Move its folder under %1, then rebuild the history in the Run menu.</source><translation>把它的文件夹移到 %1 下，再从“运行”菜单重建历史。</translation></message>
<message><source>Export steps as CSV…</source><translation>将各步导出为 CSV…</translation></message>
<message><source>Every run is saved and listed here. Select several to overlay them.</source><translation>每次运行都会保存并列在这里。选中多个即可叠加对比。</translation></message>
<message><source>Compare selected runs</source><translation>对比选中的运行</translation></message>
<message><source>Hide on plots</source><translation>在图上隐藏</translation></message>
<message><source>Show on plots</source><translation>在图上显示</translation></message>
<message><source>Load settings</source><translation>载入设置</translation></message>
<message><source>Show folder</source><translation>打开所在文件夹</translation></message>
<message><source>Rename…</source><translation>重命名…</translation></message>
<message><source>Delete…</source><translation>删除…</translation></message>
<message><source>Delete runs</source><translation>删除运行</translation></message>
<message><source>Settings, events and all steps move to the trash. Without a trash they are deleted for good.</source><translation>设置、事件和所有步的记录会移到回收站；没有回收站时将永久删除。</translation></message>
<message><source>Delete</source><translation>删除</translation></message>
<message><source>Resume</source><translation>恢复</translation></message>
<message><source>Report…</source><translation>报告…</translation></message>
<message><source>Delete %1?</source><translation>删除 %1？</translation></message>
<message><source>Select its comparison</source><translation>选择它所属的对比</translation></message>
<message><source>Export runs…</source><translation>导出运行…</translation></message>
</context>
    <context>
        <name>ui::LinePlot</name>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>%1: %2 steps, from %3 to %4, now %5.</source><translation>%1：%2 步，范围 %3 到 %4，当前 %5。</translation></message>
<message><source>update %1</source><translation>第 %1 次更新</translation></message>
<message><source>epoch %1</source><translation>轮次 %1</translation></message>
<message><source>%1 samples</source><translation>%1 个样本</translation></message>
<message><source>%1 s</source><translation>%1 秒</translation></message>
<message><source>%1 since the start</source><translation>自开始起 %1</translation></message>
    </context>
    <context>
        <name>ui::MainMenu</name>
<message><source>Write a lesson</source><translation>编写课程</translation></message>
<message><source>What has changed</source><translation>更新内容</translation></message>
<message><source>Import run…</source><translation>导入运行…</translation></message>
<message><source>&amp;File</source><translation>文件(&amp;F)</translation></message>
<message><source>Open settings…</source><translation>打开设置…</translation></message>
<message><source>Save settings…</source><translation>保存设置…</translation></message>
<message><source>Default comparison</source><translation>默认对比</translation></message>
<message><source>Export steps as CSV…</source><translation>将各步导出为 CSV…</translation></message>
<message><source>Quit</source><translation>退出</translation></message>
<message><source>&amp;Run</source><translation>运行(&amp;R)</translation></message>
<message><source>Compare</source><translation>对比</translation></message>
<message><source>Start</source><translation>开始</translation></message>
<message><source>Pause</source><translation>暂停</translation></message>
<message><source>Step</source><translation>单步</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
<message><source>Evaluate the test set now</source><translation>立即评估测试集</translation></message>
<message><source>Find the learning rate…</source><translation>寻找学习率…</translation></message>
<message><source>Copy as command line</source><translation>复制为命令行</translation></message>
<message><source>The command line is in the clipboard.</source><translation>命令行已复制到剪贴板。</translation></message>
<message><source>It starts the same run in a terminal.</source><translation>在终端中执行它即可启动同样的运行。</translation></message>
<message><source>Rebuild the run history</source><translation>重建运行历史</translation></message>
<message><source>&amp;View</source><translation>视图(&amp;V)</translation></message>
<message><source>Logarithmic loss axis on or off</source><translation>切换损失的对数坐标</translation></message>
<message><source>Panels</source><translation>面板</translation></message>
<message><source>Reset layout</source><translation>恢复默认布局</translation></message>
<message><source>Theme</source><translation>主题</translation></message>
<message><source>System</source><translation>跟随系统</translation></message>
<message><source>Light</source><translation>浅色</translation></message>
<message><source>Dark</source><translation>深色</translation></message>
<message><source>Language</source><translation>语言</translation></message>
<message><source>&amp;Help</source><translation>帮助(&amp;H)</translation></message>
<message><source>Keyboard shortcuts</source><translation>键盘快捷键</translation></message>
<message><source>Report a problem…</source><translation>报告问题…</translation></message>
<message><source>About Halftone</source><translation>关于 Halftone</translation></message>
<message><source>Resume</source><translation>继续</translation></message>
<message><source>Open settings</source><translation>打开设置</translation></message>
<message><source>Settings (*.json);;All files (*)</source><translation>设置 (*.json);;所有文件 (*)</translation></message>
<message><source>Save settings</source><translation>保存设置</translation></message>
<message><source>Settings (*.json)</source><translation>设置 (*.json)</translation></message>
<message><source>There is no run to export yet.</source><translation>还没有可导出的运行。</translation></message>
<message><source>Start one, or select one under Runs.</source><translation>请先开始训练，或在运行历史中选择一个。</translation></message>
<message><source>Why scale the loss?</source><translation>为什么要做损失缩放？</translation></message>
<message><source>Trains a network in FP32, in FP16 and in FP16 without loss scaling.</source><translation>分别用 FP32、FP16 和不做损失缩放的 FP16 训练同一个网络。</translation></message>
<message><source>Open data set…</source><translation>打开数据集…</translation></message>
<message><source>Reset zoom</source><translation>重置缩放</translation></message>
<message><source>Autocast op rules…</source><translation>自动混合精度的算子规则…</translation></message>
<message><source>Help…</source><translation>帮助…</translation></message>
<message><source>Move the selected step by one pixel; by ten with Shift, by one step with Ctrl</source><translation>将所选步移动一个像素；按 Shift 移动十个像素，按 Ctrl 移动一步</translation></message>
<message><source>On a plot: Home, End</source><translation>在图上：Home、End</translation></message>
<message><source>Select the first or the last step</source><translation>选中第一步或最后一步</translation></message>
<message><source>Less or more smoothing</source><translation>减弱或增强平滑</translation></message>
<message><source>Save a checkpoint now</source><translation>立即保存检查点</translation></message>
<message><source>Watch a run folder…</source><translation>跟踪运行文件夹…</translation></message>
<message><source>Folder of a run that another program writes</source><translation>其他程序正在写入的运行文件夹</translation></message>
<message><source>New lesson from this run…</source><translation>由此次运行新建课程…</translation></message>
<message><source>Save the draft of a lesson</source><translation>保存课程草稿</translation></message>
<message><source>Lessons (*.lesson.md)</source><translation>课程 (*.lesson.md)</translation></message>
<message><source>My lesson: %1</source><translation>我的课程：%1</translation></message>
<message><source>Choose a folder that you may write to.</source><translation>请选择有写入权限的文件夹。</translation></message>
<message><source>&amp;Edit</source><translation>编辑(&amp;E)</translation></message>
<message><source>Undo change of settings</source><translation>撤销对设置的更改</translation></message>
<message><source>Redo change of settings</source><translation>重做对设置的更改</translation></message>
<message><source>Undo: %1</source><translation>撤销：%1</translation></message>
<message><source>Redo: %1</source><translation>重做：%1</translation></message>
<message><source>Change keyboard shortcuts…</source><translation>更改键盘快捷键…</translation></message>
</context>
    <context>
        <name>ui::MainWindow</name>
<message><source>The program cannot be started to train on.</source><translation>无法启动程序以继续训练。</translation></message>
<message><source>The run is saved: select it under Runs and choose Resume.</source><translation>运行已保存：在“运行”中选中它并选择“恢复”。</translation></message>
<message><source>Open</source><translation>打开</translation></message>
<message><source>No program opens %1.</source><translation>没有程序可以打开 %1。</translation></message>
<message><source>Choose the data…</source><translation>选择数据…</translation></message>
<message><source>Keep runs elsewhere…</source><translation>更换运行的保存位置…</translation></message>
<message><source>Run %1 was interrupted at step %2.</source><translation>运行 %1 在第 %2 步中断。</translation></message>
<message><source>It can be resumed from its last checkpoint.</source><translation>可从最后的检查点恢复。</translation></message>
<message><source>Resume</source><translation>恢复</translation></message>
<message><source>Comparison %1 was interrupted at step %2 (runs %3).</source><translation>对比 %1 在第 %2 步中断（运行 %3）。</translation></message>
<message><source>Its runs can be resumed together, from their last checkpoints.</source><translation>它的运行可以从各自最后一个检查点一起继续。</translation></message>
<message><source>, </source><translation>、</translation></message>
<message><source>A file is still being written or read.</source><translation>仍有文件正在写入或读取。</translation></message>
<message><source>Quitting now gives it up; nothing of it is kept.</source><translation>现在退出会放弃它，不会留下任何内容。</translation></message>
<message><source>Quit now</source><translation>立即退出</translation></message>
<message><source>With this data the run goes on as a new run, which has its steps so far. The steps to come are of other samples than those before.</source><translation>使用这些数据时，该运行将作为新的运行继续，并包含至今的各步；此后各步所用的样本与之前不同。</translation></message>
<message><source>With this data the steps to come are of other samples than those before. The run keeps a note of that.</source><translation>使用这些数据时，此后各步所用的样本与之前不同；运行中会留下相应记录。</translation></message>
</context>
    <context>
        <name>ui::PageColumns</name>
<message><source>Collapse the settings</source><translation>收起设置</translation></message>
    </context>
    <context>
        <name>ui::MessageBar</name>
<message><source>Close this message</source><translation>关闭此消息</translation></message>
    </context>
    <context>
        <name>ui::Panel</name>
<message><source>Fill the centre (Esc returns)</source><translation>铺满中央（Esc 返回）</translation></message>
<message><source>More</source><translation>更多</translation></message>
    </context>
    <context>
        <name>ui::PlotPanel</name>
<message><source>Zoom back</source><translation>返回上一次缩放</translation></message>
<message><source>Export picture…</source><translation>导出图片…</translation></message>
<message><source>Logarithmic axis</source><translation>对数坐标</translation></message>
<message><source>log</source><translation>对数</translation></message>
<message><source>linear</source><translation>线性</translation></message>
<message><source>%1 · raw behind, mean of the last %2 in front</source><translation>%1 · 淡线为原始值，粗线为最近 %2 步的均值</translation></message>
<message><source>skipped</source><translation>跳过</translation></message>
<message><source>scale %1 → %2</source><translation>缩放因子 %1 → %2</translation></message>
<message><source>Reset zoom</source><translation>重置缩放</translation></message>
<message><source>max safe scale unknown</source><translation>最大安全缩放因子未知</translation></message>
<message><source>max safe scale %1</source><translation>最大安全缩放因子 %1</translation></message>
<message><source>Copy as image</source><translation>复制为图片</translation></message>
<message><source>Copy as data</source><translation>复制为数据</translation></message>
<message><source>Float</source><translation>浮动</translation></message>
<message><source>Hide</source><translation>隐藏</translation></message>
    </context>
    <context>
        <name>ui::PrecisionSection</name>
<message><source>sign · exponent (range) · fraction (precision)</source><translation>符号 · 指数（范围）· 尾数（精度）</translation></message>
<message><source>Only in the single run: %1.</source><translation>仅用于单次运行：%1。</translation></message>
<message><source>Make it the baseline</source><translation>设为基准</translation></message>
<message><source>Remove from the comparison</source><translation>从对比中移除</translation></message>
<message><source>Add a precision to the comparison</source><translation>为对比添加一种精度</translation></message>
<message><source>%1 – %2</source><translation>%1 – %2</translation></message>
    </context>
    <context>
        <name>ui::RunCards</name>
<message><source>run</source><translation>运行</translation></message>
<message><source>state</source><translation>状态</translation></message>
<message><source>loss, last 20</source><translation>损失（近 20 步）</translation></message>
<message><source>peak memory</source><translation>内存峰值</translation></message>
<message><source>Runs on screen</source><translation>正在显示的运行</translation></message>
<message><source>test metric</source><translation>测试指标</translation></message>
<message><source>mean speed</source><translation>平均速度</translation></message>
    </context>
    <context>
        <name>ui::RunListModel</name>
<message><source>%1 skipped</source><translation>跳过 %1 步</translation></message>
<message><source>Run %1, %2
%3 · %4
%5 steps, %6 skipped
started %7</source><translation>运行 %1，%2
%3 · %4
%5 步，跳过 %6 步
开始于 %7</translation></message>
<message><source>broken on purpose</source><translation>故意出错</translation></message>
<message><source>broken on purpose: %1</source><translation>故意出错：%1</translation></message>
    </context>
    <context>
        <name>ui::SettingsField</name>
<message><source>Choose a folder…</source><translation>选择文件夹…</translation></message>
<message><source>Choose a file…</source><translation>选择文件…</translation></message>
<message><source>Back to default (%1)</source><translation>恢复默认值（%1）</translation></message>
<message><source>Back to default</source><translation>恢复默认值</translation></message>
<message><source>Preset: %1</source><translation>预设：%1</translation></message>
<message><source>Changed from %1.</source><translation>默认值为 %1，已修改。</translation></message>
<message><source>Locked while a run trains.</source><translation>运行训练期间锁定。</translation></message>
    </context>
    <context>
        <name>ui::SettingsPanel</name>
<message><source>Not valid: %1</source><translation>无效的设置：%1</translation></message>
<message><source>A change takes effect in the next run.</source><translation>修改将在下一次运行时生效。</translation></message>
<message><source>Data</source><translation>数据</translation></message>
<message><source>Model</source><translation>模型</translation></message>
<message><source>Precision</source><translation>精度</translation></message>
<message><source>Single run</source><translation>单次运行</translation></message>
<message><source>Compared</source><translation>对比</translation></message>
<message><source>The runs that Compare starts together; the first is the baseline.</source><translation>“对比”同时开始的运行；第一个为基准。</translation></message>
<message><source>not for production</source><translation>不用于生产</translation></message>
<message><source>Loss scaler</source><translation>损失缩放器</translation></message>
<message><source>Preset</source><translation>预设</translation></message>
<message><source>Training</source><translation>训练</translation></message>
<message><source>Batch · epochs</source><translation>批量 · 轮数</translation></message>
<message><source>Seed · device</source><translation>种子 · 设备</translation></message>
<message><source>show</source><translation>展开</translation></message>
<message><source>All other settings</source><translation>其他设置</translation></message>
<message><source>hide</source><translation>收起</translation></message>
<message><source>Findings</source><translation>检查结果</translation></message>
<message><source>%1 parameters · %2</source><translation>%1 个参数 · %2</translation></message>
<message><source>what is this?</source><translation>这是什么？</translation></message>
<message><source>The classroom preset grows the scale often, to show it at work.</source><translation>教学预设让缩放因子频繁增长，便于观察它的变化。</translation></message>
<message><source>Growth · backoff factor</source><translation>增长 · 回退系数</translation></message>
<message><source>find…</source><translation>寻找…</translation></message>
<message><source>Find the learning rate</source><translation>寻找学习率</translation></message>
<message><source>Shows the loss while the rate rises, and suggests a rate.</source><translation>显示学习率上升时的损失，并给出建议值。</translation></message>
<message><source>max…</source><translation>最大…</translation></message>
<message><source>Find the largest batch</source><translation>查找最大批次</translation></message>
<message><source>Find the largest batch that fits into memory.</source><translation>查找内存放得下的最大批次。</translation></message>
    </context>
    <context>
        <name>SettingsChoices</name>
<message><source>Last column</source><translation>最后一列</translation></message>
    </context>
    <context>
        <name>ui::StatusLine</name>
<message><source>on %1 (last heard of %2 s ago)</source><translation>（位于 %1，%2 秒前有消息）</translation></message>
<message><source>Mean over all steps so far. X-ray shows the fastest of three.</source><translation>到目前为止所有步的平均值。X 光显示三次中最快的一次。</translation></message>
<message><source>Mean speed over all steps so far.</source><translation>到目前为止所有步的平均速度。</translation></message>
<message><source>Progress</source><translation>进度</translation></message>
<message><source>epoch %1 of %2</source><translation>第 %1 轮，共 %2 轮</translation></message>
<message><source>mean %1/step</source><translation>平均 %1/步</translation></message>
<message><source>%1 left</source><translation>剩余 %1</translation></message>
<message><source>time left unknown</source><translation>剩余时间未知</translation></message>
<message><source>CPU %1 %</source><translation>CPU %1 %</translation></message>
<message><source>memory %1 of %2</source><translation>内存 %1 / %2</translation></message>
<message><source>saved %1 s ago</source><translation>%1 秒前保存</translation></message>
<message><source>all steps saved</source><translation>所有步已保存</translation></message>
<message><source>Every step is written to the run's folder as it ends.</source><translation>每一步结束时都会写入该运行的文件夹。</translation></message>
<message><source>after step %1</source><translation>第 %1 步之后</translation></message>
<message><source>epoch %1</source><translation>第 %1 轮</translation></message>
<message><source>%1 of %2 read</source><translation>已读取 %1 / %2</translation></message>
</context>
    <context>
        <name>ui::WorkerLaunch</name>
<message><source>The program cannot be started: %1.</source><translation>无法启动程序：%1。</translation></message>
<message><source>The settings cannot be written to %1: %2.</source><translation>无法把设置写入 %1：%2。</translation></message>
<message><source>The workers ended with exit code %1.</source><translation>工作进程以退出码 %1 结束。</translation></message>
    </context>
    <context>
        <name>ui::StepPanel</name>
<message><source>%1 skipped so far</source><translation>已跳过 %1 步</translation></message>
<message><source>Selected step</source><translation>所选步</translation></message>
<message><source>Click a step on a plot, or a line under Events, to see why the step was applied or skipped.</source><translation>点击图上的某一步或“事件”中的一行，这里会说明该步为何被应用或跳过。</translation></message>
<message><source>Skipped step %1</source><translation>跳过的步 %1</translation></message>
<message><source>Step %1</source><translation>第 %1 步</translation></message>
<message><source>run</source><translation>运行</translation></message>
<message><source>loss</source><translation>损失</translation></message>
<message><source>scale</source><translation>缩放因子</translation></message>
<message><source>max safe scale</source><translation>最大安全缩放</translation></message>
<message><source>unknown (the overflow hid the true maximum)</source><translation>未知（溢出掩盖了真实最大值）</translation></message>
<message><source>clean steps</source><translation>无溢出步数</translation></message>
<message><source>gradient</source><translation>梯度</translation></message>
<message><source>norm %1, largest %2</source><translation>范数 %1，最大值 %2</translation></message>
<message><source>in FP16</source><translation>在 FP16 中</translation></message>
<message><source>%1 zero, %2 subnormal, %3 overflow</source><translation>%1 为零，%2 次正规，%3 溢出</translation></message>
<message><source>learning rate</source><translation>学习率</translation></message>
<message><source>time</source><translation>用时</translation></message>
<message><source>GPU load</source><translation>GPU 负载</translation></message>
<message><source>GPU memory</source><translation>GPU 显存</translation></message>
<message><source>GPU temperature</source><translation>GPU 温度</translation></message>
<message><source>GPU power</source><translation>GPU 功率</translation></message>
<message><source>GPU energy</source><translation>GPU 能耗</translation></message>
<message><source>CPU energy</source><translation>CPU 能耗</translation></message>
<message><source>exchange</source><translation>交换</translation></message>
<message><source>%1 between %2 workers, %3 of it during the backward pass</source><translation>%1，在 %2 个工作进程之间，其中 %3 与反向传播重叠</translation></message>
<message><source>%1: data %2, forward %3, backward %4, optimizer %5</source><translation>%1：数据 %2，前向 %3，反向 %4，优化器 %5</translation></message>
<message><source>zero gradients</source><translation>为 0 的梯度</translation></message>
<message><source>not measured at this step</source><translation>这一步没有测量</translation></message>
<message><source>%1 of %2 files read</source><translation>已读取 %1 / %2 个文件</translation></message>
<message><source>Previous skipped or non-finite step</source><translation>上一个被跳过或非有限的步</translation></message>
<message><source>Next skipped or non-finite step</source><translation>下一个被跳过或非有限的步</translation></message>
<message><source>ended at</source><translation>结束于</translation></message>
    </context>
    <context>
        <name>ui::VerdictBar</name>
<message><source>Measured on the Benchmarks page:</source><translation>“性能对比”页的测量结果：</translation></message>
<message><source>Nothing has run yet.</source><translation>还没有训练。</translation></message>
<message><source>One run, nothing to compare it with.</source><translation>只有一次运行，没有可对比的对象。</translation></message>
<message><source>Compare trains the same network in each precision, side by side.</source><translation>“对比”以每种精度并排训练同一个网络。</translation></message>
<message><source>Compare runs a baseline beside it.</source><translation>“对比”会同时训练一个基准。</translation></message>
<message><source>Too early to say.</source><translation>为时尚早。</translation></message>
<message><source>Waiting for the first step.</source><translation>等待第一步。</translation></message>
<message><source>Nothing to compare.</source><translation>没有可对比的内容。</translation></message>
<message><source>%1 failed before its first step.</source><translation>%1 在第一步之前就失败了。</translation></message>
<message><source>%1: %2</source><translation>%1：%2</translation></message>
</context>
<context>
    <name>ui::VerdictLine</name>
<message><source>measure</source><translation>测量原因</translation></message>
<message><source>Measures on the Benchmarks page why it does not pay off</source><translation>在“性能对比”页测量没有收益的原因</translation></message>
<message><source>Measure: %1</source><translation>测量原因：%1</translation></message>
<message><source>evidence</source><translation>依据</translation></message>
<message><source>Evidence: %1</source><translation>依据：%1</translation></message>
</context>
<context>
    <name>VerdictWords</name>
<message><source>, </source><translation>，</translation></message>
</context>
    <context>
        <name>RunTitle</name>
<message><source>%1, no scaling</source><translation>%1，无缩放</translation></message>
<message><source>%1, static scale</source><translation>%1，静态缩放</translation></message>
<message><source>%1, dynamic scale</source><translation>%1，动态缩放</translation></message>
    </context>
    <context>
        <name>HelpPage</name>
<message><source>FP16 has 5 exponent bits and 10 fraction bits. It rounds magnitudes up to 2⁻²⁵ to 0 and magnitudes from 65,520 on to infinity; its largest finite number is 65,504. Below 2⁻¹⁴ numbers are subnormal, with fewer and fewer digits, down to 2⁻²⁴. BF16 has the 8 exponent bits of FP32 and only 7 fraction bits. AMP keeps the weights in FP32 and computes matrix products and convolutions in 16 bits.</source><translation>FP16 有 5 位指数和 10 位尾数。绝对值不超过 2⁻²⁵ 的数舍入为 0，绝对值不小于 65,520 的数舍入为无穷大；最大的有限数是 65,504。小于 2⁻¹⁴ 的数是次正规数，有效位逐渐减少，最小到 2⁻²⁴。BF16 与 FP32 同为 8 位指数，但只有 7 位尾数。自动混合精度（AMP）用 FP32 保存权重，用 16 位计算矩阵乘法和卷积。</translation></message>
<message><source>Small gradients would underflow to 0 in FP16. The loss is therefore multiplied by a scale before the backward pass, and the gradients are divided by it afterwards. If a gradient overflows, the step is skipped and the scale backs off. After a growth interval without overflow the scale grows. An occasional skipped step is healthy.</source><translation>很小的梯度在 FP16 中会下溢为 0。因此在反向传播前把损失乘以缩放因子，之后再把梯度除以它。如果梯度溢出，就跳过这一步并减小缩放因子；在一个增长间隔内没有溢出，缩放因子再增大。偶尔跳过一步是正常的。</translation></message>
<message><source>The schedule counts applied updates: a skipped step does not advance it.</source><translation>学习率计划按已生效的更新推进：跳过的步不计入。</translation></message>
<message><source>Default: %1.</source><translation>默认值：%1。</translation></message>
<message><source>On the command line:</source><translation>命令行写法：</translation></message>
<message><source>VALUE</source><translation>值</translation></message>
    </context>
    <context>
        <name>HelpTopics</name>
<message><source>Drag or turn the wheel to zoom the steps, with Ctrl the values of this plot; with Shift, or the middle button, move through them; double click to show all</source><translation>拖动或滚轮缩放步，按住 Ctrl 缩放此图的数值；按住 Shift 或用中键移动；双击显示全部</translation></message>
<message><source>Mouse on a plot</source><translation>图上的鼠标操作</translation></message>
<message><source>Back to the zoom before</source><translation>返回上一次缩放</translation></message>
<message><source>On a plot: Backspace</source><translation>图上：退格</translation></message>
<message><source>Zoom the values</source><translation>缩放数值</translation></message>
<message><source>On a plot: Alt + −</source><translation>图上：Alt + −</translation></message>
<message><source>Move through a part that is zoomed</source><translation>在放大的部分中移动</translation></message>
<message><source>On a plot: Page Up, Page Down</source><translation>图上：Page Up、Page Down</translation></message>
<message><source>On Benchmarks: B</source><translation>在“性能对比”页：B</translation></message>
<message><source>Run or stop the measurement</source><translation>开始或停止测量</translation></message>
<message><source>Number formats</source><translation>数值格式</translation></message>
<message><source>Loss scaling</source><translation>损失缩放</translation></message>
<message><source>Skipped steps</source><translation>跳过的步</translation></message>
<message><source>When a gradient is infinite or NaN, the scaler skips the step: the weights stay as they are and the scale backs off. Skips in the first steps are calibration. Skip after skip, even at a low scale, means that the computation itself yields a NaN or an infinity: lowering the scale cannot fix that.</source><translation>梯度为无穷大或 NaN 时，缩放器跳过这一步：权重保持不变，缩放因子回退。最初几步的跳过是在校准。缩放因子已经很低仍接连跳过，说明计算本身产生了 NaN 或无穷大：降低缩放因子解决不了。</translation></message>
<message><source>Master weights</source><translation>主权重</translation></message>
<message><source>An update below half a unit in the last place of its weight is rounded away. In FP16 that is one part in 2,048 to 4,096 of the weight, so late in training most updates vanish. AMP and O2 therefore keep the weights in FP32.</source><translation>小于权重最低位一半（0.5 ulp）的更新会被舍入掉。在 FP16 中，这相当于权重的 1/2,048 到 1/4,096，因此训练后期大多数更新都会消失。所以 AMP 和 O2 用 FP32 保存权重。</translation></message>
<message><source>Comparing precisions</source><translation>对比不同精度</translation></message>
<message><source>Compare trains the same network with the same data order and initial weights once in each precision. The first one is the baseline. A difference counts only if it is larger than the noise between seeds or, with one seed, between steps.</source><translation>“对比”用相同的数据顺序和初始权重，在每种精度下各训练一次同一网络，第一个为基准。差异只有超过种子间的噪声（只有一个种子时为步间噪声）才算数。</translation></message>
<message><source>AMP</source><translation>AMP</translation></message>
<message><source>automatic mixed precision: autocast and loss scaling together</source><translation>自动混合精度：自动转换加损失缩放</translation></message>
<message><source>Autocast</source><translation>自动转换</translation></message>
<message><source>chooses for each operation to compute in 16 bits or in FP32</source><translation>为每个算子选择用 16 位还是 FP32 计算</translation></message>
<message><source>Baseline</source><translation>基准</translation></message>
<message><source>the run that the others are compared with</source><translation>其他运行与之比较的运行</translation></message>
<message><source>Headroom</source><translation>余量</translation></message>
<message><source>bits between the largest scaled gradient and the largest finite FP16 number</source><translation>最大的缩放后梯度与 FP16 最大有限数之间相差的位数</translation></message>
<message><source>Max safe scale</source><translation>最大安全缩放因子</translation></message>
<message><source>largest loss scale at which no gradient overflows</source><translation>没有梯度溢出的最大缩放因子</translation></message>
<message><source>Overflow</source><translation>上溢</translation></message>
<message><source>a result too large for its format; it becomes infinite</source><translation>结果超出格式的范围，变为无穷大</translation></message>
<message><source>Subnormal</source><translation>次正规数</translation></message>
<message><source>smaller than the smallest normal number, with fewer digits</source><translation>比最小的正规数还小，有效位更少</translation></message>
<message><source>Underflow</source><translation>下溢</translation></message>
<message><source>a result too small for its format; it becomes 0</source><translation>结果太小，格式无法表示，变为 0</translation></message>
<message><source>Update</source><translation>更新</translation></message>
<message><source>a step that changed the weights; a skipped step is none</source><translation>改变了权重的一步；跳过的步不算</translation></message>
<message><source>Start one run</source><translation>开始一次运行</translation></message>
<message><source>One step, when paused or with nothing on screen</source><translation>单步（暂停时，或屏幕上没有运行时）</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
<message><source>Evaluate the test set now</source><translation>立即评估测试集</translation></message>
<message><source>Logarithmic loss axis on or off</source><translation>切换损失的对数坐标</translation></message>
<message><source>Reset zoom</source><translation>重置缩放</translation></message>
<message><source>Copy the settings as a command line</source><translation>将设置复制为命令行</translation></message>
<message><source>Open, save settings</source><translation>打开、保存设置</translation></message>
<message><source>Back from a plot that fills the centre</source><translation>从铺满中央的图返回</translation></message>
<message><source>Tab, Shift+Tab</source><translation>Tab、Shift+Tab</translation></message>
<message><source>Next or previous control</source><translation>下一个或上一个控件</translation></message>
<message><source>On a plot: ← →</source><translation>图上：← →</translation></message>
<message><source>Move the pen; with Shift it draws, Delete clears</source><translation>移动画笔；同时按住 Shift 则绘制，Delete 清空</translation></message>
<message><source>On the canvas: ← ↑ → ↓</source><translation>在画布上：← ↑ → ↓</translation></message>
<message><source>Show Training, Microscope … in the order of the tabs</source><translation>按标签页顺序显示“训练”“显微镜”等页面</translation></message>
<message><source>On a plot: + − 0</source><translation>图上：+ − 0</translation></message>
<message><source>Zoom in, zoom out, reset zoom</source><translation>放大、缩小、重置缩放</translation></message>
<message><source>Help, on the focused setting if there is one</source><translation>帮助；焦点在设置项上时显示该项</translation></message>
<message><source>Ideas</source><translation>概念</translation></message>
<message><source>Reference</source><translation>参考</translation></message>
<message><source>Keyboard shortcuts</source><translation>键盘快捷键</translation></message>
<message><source>Words</source><translation>术语</translation></message>
<message><source>Settings</source><translation>设置</translation></message>
<message><source>Move the selected step by one pixel; by ten with Shift, by one step with Ctrl</source><translation>将所选步移动一个像素；按 Shift 移动十个像素，按 Ctrl 移动一步</translation></message>
<message><source>On a plot: Home, End</source><translation>图上：Home、End</translation></message>
<message><source>Select the first or the last step</source><translation>选择第一步或最后一步</translation></message>
<message><source>Less or more smoothing</source><translation>减弱或加强平滑</translation></message>
<message><source>Under Runs: / or Ctrl+F</source><translation>“运行”页：/ 或 Ctrl+F</translation></message>
<message><source>Go to the filter; ↓ moves to the table</source><translation>转到筛选框；按 ↓ 转到表格</translation></message>
<message><source>Under Runs: Enter, S, F2, Delete</source><translation>“运行”页：Enter、S、F2、Delete</translation></message>
<message><source>Open, star, rename or delete the runs</source><translation>打开、加星标、重命名或删除运行</translation></message>
<message><source>In the Lab, under Numbers: ← →, Space</source><translation>实验室的“数字”中：← →、空格</translation></message>
<message><source>Move among the bits, flip one</source><translation>在各位之间移动，翻转一位</translation></message>
<message><source>In the Lab, under Numbers: Ctrl+↑, Ctrl+↓</source><translation>实验室的“数字”中：Ctrl+↑、Ctrl+↓</translation></message>
<message><source>Next larger or smaller value of the selected format</source><translation>所选格式的下一较大值或较小值</translation></message>
<message><source>In the Lab, under Numbers: F5</source><translation>实验室的“数字”中：F5</translation></message>
<message><source>Present: full screen, larger; PageDown and PageUp turn the parts, Esc ends</source><translation>演示：全屏、放大；PageDown 和 PageUp 翻页，Esc 结束</translation></message>
<message><source>In the list of lessons: Enter</source><translation>课程列表中：Enter</translation></message>
<message><source>Go to the first question</source><translation>转到第一个问题</translation></message>
<message><source>In a lesson: 1 to 9</source><translation>课程中：1 到 9</translation></message>
<message><source>Choose an answer</source><translation>选择答案</translation></message>
<message><source>In a lesson: ← →</source><translation>课程中：← →</translation></message>
<message><source>In a lesson: Ctrl+PageDown, Ctrl+PageUp</source><translation>课程中：Ctrl+PageDown、Ctrl+PageUp</translation></message>
<message><source>Next or previous step</source><translation>下一步或上一步</translation></message>
<message><source>In a lesson: E, Ctrl+P</source><translation>课程中：E、Ctrl+P</translation></message>
<message><source>Edit its file, save its worksheet</source><translation>编辑文件，保存练习单</translation></message>
<message><source>In a lesson: F5</source><translation>课程中：F5</translation></message>
<message><source>Present: one step at a time; PageDown also starts the run, Esc ends</source><translation>演示：逐步显示；PageDown 也会启动运行，Esc 退出</translation></message>
<message><source>On an instrument&apos;s page: Ctrl+E</source><translation>在仪器页面：Ctrl+E</translation></message>
<message><source>Export its figures or a picture</source><translation>导出其数据或图片</translation></message>
<message><source>On Microscope: P</source><translation>在显微镜页：P</translation></message>
<message><source>Compute the step in FP32, as a shadow pass</source><translation>以 FP32 计算该步（影子计算）</translation></message>
<message><source>On X-ray: T, F, /</source><translation>在 X 光页：T、F、/</translation></message>
<message><source>Trace a step, force the row to the other precision, go to the filter</source><translation>追踪一步，将所在行强制为另一种精度，转到筛选框</translation></message>
<message><source>On Skips: R, K</source><translation>在跳过页：R、K</translation></message>
<message><source>Examine the step, save it as a capsule</source><translation>检查该步，将其保存为胶囊</translation></message>
<message><source>On Twin: Y</source><translation>在孪生页：Y</translation></message>
<message><source>Resync at the end of the step</source><translation>在该步结束时重新同步</translation></message>
<message><source>Pause or resume; it types where text is typed, and presses a button or box</source><translation>暂停或继续；在输入文字处输入空格，在按钮或选框上则按下它</translation></message>
<message><source>Move the slider; ten times as far with Shift, a tenth as far with Ctrl</source><translation>移动滑块；按住 Shift 移动十倍，按住 Ctrl 移动十分之一</translation></message>
<message><source>Compare, or run the lesson</source><translation>对比，或运行本课</translation></message>
<message><source>Return</source><translation>回车</translation></message>
<message><source>Press the focused button</source><translation>按下焦点所在的按钮</translation></message>
<message><source>Take back the last change of the settings</source><translation>撤销对设置的最后一次更改</translation></message>
<message><source>Make it again</source><translation>重做</translation></message>
<message><source>Follow the newest step</source><translation>跟随最新一步</translation></message>
</context>
    <context>
        <name>ui::HelpWindow</name>
<message><source>Help</source><translation>帮助</translation></message>
<message><source>Search the help</source><translation>搜索帮助</translation></message>
<message><source>Pages</source><translation>页面列表</translation></message>
<message><source>Page</source><translation>页面</translation></message>
<message><source>No page contains these words.</source><translation>没有包含这些词的页面。</translation></message>
<message><source>Show the page Network</source><translation>显示“网络”页面</translation></message>
<message><source>On Network: F8, Shift+F8, Alt+Enter</source><translation>在“网络”中：F8、Shift+F8、Alt+Enter</translation></message>
<message><source>Next or previous error, replace the one at the cursor</source><translation>下一个或上一个错误，替换光标处的错误</translation></message>
<message><source>On Network: Ctrl+/, Ctrl+Shift+[ and ]</source><translation>在“网络”中：Ctrl+/、Ctrl+Shift+[ 和 ]</translation></message>
<message><source>Turn lines into comments and back, fold a body and unfold it</source><translation>将行变为注释或还原，折叠或展开一段</translation></message>
<message><source>On Network: Alt+← →</source><translation>在“网络”中：Alt+← →</translation></message>
<message><source>Show another use of the block, another run of the repeat</source><translation>显示块的另一次使用、重复的另一轮</translation></message>
<message><source>On Network: Ctrl+Space, Ctrl+F</source><translation>在“网络”中：Ctrl+Space、Ctrl+F</translation></message>
<message><source>List the words that fit at the cursor, find</source><translation>列出光标处可用的词，查找</translation></message>
    </context>
    <context>
        <name>ui::AboutDialog</name>
<message><source>About Halftone</source><translation>关于 Halftone</translation></message>
<message><source>Trains neural networks in mixed precision and shows what the loss scale does.</source><translation>用混合精度训练神经网络，并展示损失缩放的作用。</translation></message>
<message><source>Everything is computed on this machine; nothing is sent anywhere.</source><translation>一切都在本机计算，不会向外发送任何数据。</translation></message>
<message><source>The source is under the MIT License.</source><translation>源代码采用 MIT 许可证。</translation></message>
<message><source>This program, which contains QCustomPlot, is under the GNU General Public License, version 3 or later.</source><translation>本程序包含 QCustomPlot，采用 GNU 通用公共许可证第 3 版或更高版本。</translation></message>
<message><source>Licences</source><translation>许可证</translation></message>
<message><source>Copy</source><translation>复制</translation></message>
<message><source>Copy the versions and licences</source><translation>复制版本和许可证信息</translation></message>
<message><source>Close</source><translation>关闭</translation></message>
    </context>
    <context>
        <name>ui::QuitDialog</name>
<message><source>Or it goes on without the window, in a process of its own: the next window shows it and can stop it.</source><translation>也可以不留窗口，让它在单独的进程中继续：下次打开窗口会显示它，也可以停止它。</translation></message>
<message><source>Train on without the window</source><translation>不留窗口继续训练</translation></message>
<message><source>Quit while training?</source><translation>训练中，确定退出？</translation></message>
<message><source>Keep training</source><translation>继续训练</translation></message>
<message><source>Save and quit</source><translation>保存并退出</translation></message>
<message><source>Stopping: the current step ends first.</source><translation>正在停止：先完成当前这一步。</translation></message>
<message><source>The run stops after its current step. Its weights, its state and the record of every step are saved, so that it can be resumed bit for bit: select it under Runs and choose Resume.</source><translation>运行在当前这一步结束后停止。其权重、状态和每一步的记录都会保存，可逐位一致地恢复：在“运行”中选中它，然后选“恢复”。</translation></message>
<message><source>Saving: the current step ends first, then the checkpoint is written.</source><translation>正在保存：先完成当前这一步，再写入检查点。</translation></message>
    </context>
    <context>
        <name>SettingErrorText</name>
<message><source>"%1" is not valid. %2</source><translation>“%1”无效。%2</translation></message>
<message><source>%1: %2</source><translation>%1：%2</translation></message>
    </context>
    <context>
        <name>RunExport</name>
<message><source>Export run</source><translation>导出运行</translation></message>
<message><source>Import run</source><translation>导入运行</translation></message>
<message><source>%1, FP16</source><translation>%1，FP16</translation></message>
<message><source>Checkpoints in the file</source><translation>文件中的检查点</translation></message>
<message><source>None: figures only, a small file</source><translation>无：仅含指标，文件很小</translation></message>
<message><source>The best one, to try it elsewhere (%1)</source><translation>最佳检查点，可在别处试用（%1）</translation></message>
<message><source>All, to continue it elsewhere (%1)</source><translation>全部，可在别处继续训练（%1）</translation></message>
<message><source>Whole runs (*.halftone)</source><translation>整个运行 (*.halftone)</translation></message>
<message><source>Exported to %1.</source><translation>已导出到 %1。</translation></message>
<message><source>Imported as run %1.</source><translation>已导入为运行 %1。</translation></message>
<message><source>Write a report</source><translation>生成报告</translation></message>
<message><source>Checkpoint</source><translation>检查点</translation></message>
<message><source>Last (step %1)</source><translation>最后（第 %1 步）</translation></message>
<message><source>Best (step %1)</source><translation>最佳（第 %1 步）</translation></message>
<message><source>Step %1</source><translation>第 %1 步</translation></message>
<message><source>Web page (*.html)</source><translation>网页 (*.html)</translation></message>
<message><source>PDF (*.pdf)</source><translation>PDF (*.pdf)</translation></message>
<message><source>Steps of the runs (*.csv)</source><translation>运行的各步 (*.csv)</translation></message>
<message><source>Exporting %1</source><translation>正在导出 %1</translation></message>
<message><source>Writing the report %1</source><translation>正在写报告 %1</translation></message>
<message><source>Importing %1</source><translation>正在导入 %1</translation></message>
</context>
    <context>
        <name>CsvExport</name>
<message><source>Export steps as CSV</source><translation>将各步导出为 CSV</translation></message>
<message><source>CSV files (*.csv)</source><translation>CSV 文件 (*.csv)</translation></message>
<message><source>Exporting %1</source><translation>正在导出 %1</translation></message>
<message><source>Exported to %1.</source><translation>已导出到 %1。</translation></message>
    </context>
    <context>
        <name>AxisNames</name>
<message><source>step</source><translation>步</translation></message>
<message><source>update</source><translation>更新次数</translation></message>
<message><source>epoch</source><translation>轮次</translation></message>
<message><source>samples seen</source><translation>已训练样本数</translation></message>
<message><source>training time (s)</source><translation>训练用时（秒）</translation></message>
<message><source>time since the start, pauses included (s)</source><translation>自开始起的时间，含暂停（秒）</translation></message>
    </context>
    <context>
        <name>PlotCurves</name>
<message><source>%1 points below</source><translation>下方 %1 个点</translation></message>
<message><source>%1 points above</source><translation>上方 %1 个点</translation></message>
<message><source>1 point below</source><translation>下方 1 个点</translation></message>
<message><source>1 point above</source><translation>上方 1 个点</translation></message>
<message><source>skipped</source><translation>跳过</translation></message>
<message><source>overflows
above</source><translation>其上
会溢出</translation></message>
    </context>
    <context>
        <name>WindowContents</name>
<message><source>Commands</source><translation>命令</translation></message>
    </context>
    <context>
        <name>PlotData</name>
<message><source>%1 (mean of %2 steps)</source><translation>%1（%2 步均值）</translation></message>
    </context>
    <context>
        <name>PlotMenu</name>
<message><source>Step</source><translation>步</translation></message>
<message><source>Update (applied steps)</source><translation>更新（已应用的步）</translation></message>
<message><source>Epoch</source><translation>轮次</translation></message>
<message><source>Sample</source><translation>样本</translation></message>
<message><source>Training time</source><translation>训练用时</translation></message>
<message><source>Logarithmic</source><translation>对数</translation></message>
<message><source>For steps, updates and samples.</source><translation>适用于步、更新和样本。</translation></message>
<message><source>X axis</source><translation>横轴</translation></message>
<message><source>Smoothing</source><translation>平滑</translation></message>
<message><source>More smoothing</source><translation>增强平滑</translation></message>
<message><source>Less smoothing</source><translation>减弱平滑</translation></message>
<message><source>raw</source><translation>原始</translation></message>
<message><source>Export picture</source><translation>导出图片</translation></message>
<message><source>PNG picture (*.png)</source><translation>PNG 图片 (*.png)</translation></message>
<message><source>SVG drawing (*.svg)</source><translation>SVG 矢量图 (*.svg)</translation></message>
<message><source>PDF document (*.pdf)</source><translation>PDF 文档 (*.pdf)</translation></message>
<message><source>Clock, with pauses</source><translation>时钟，含暂停</translation></message>
<message><source>A run on screen has no clock: an earlier version recorded it.</source><translation>图中有一个运行没有时钟：它由较早的版本记录。</translation></message>
    </context>
    <context>
        <name>EvidenceTable</name>
<message><source>mean speed, %1</source><translation>平均速度，%1</translation></message>
<message><source>steps</source><translation>步数</translation></message>
<message><source>skipped</source><translation>跳过的步</translation></message>
    </context>
    <context>
        <name>ui::TwinLegend</name>
<message><source>Shades from %1 to %2</source><translation>色阶：从 %1 到 %2</translation></message>
    </context>
    <context>
        <name>ui::SkipsModel</name>
<message><source>Saved as %1.</source><translation>已保存为 %1。</translation></message>
    </context>
    <context>
        <name>CardWords</name>
<message><source>loss, last 20</source><translation>损失（近 20 步）</translation></message>
<message><source>peak</source><translation>峰值</translation></message>
<message><source>failed</source><translation>失败</translation></message>
<message><source>scale now %1</source><translation>当前缩放因子 %1</translation></message>
<message><source>headroom %1 bits</source><translation>余量 %1 位</translation></message>
<message><source>broken on purpose: %1</source><translation>故意出错：%1</translation></message>
    </context>
    <context>
        <name>ui::RunCard</name>
<message><source>Mean speed over all steps. A verdict compares typical speeds.</source><translation>所有步的平均速度。结论比较的是典型速度。</translation></message>
<message><source>baseline</source><translation>基准</translation></message>
    </context>
    <context>
        <name>SketchWords</name>
<message><source>%1 missing</source><translation>缺失 %1</translation></message>
<message><source>%1 values</source><translation>%1 个取值</translation></message>
<message><source>and %1 more</source><translation>另有 %1 列</translation></message>
<message><source>most frequent: %1</source><translation>最常见：%1</translation></message>
<message><source>target</source><translation>目标</translation></message>
    </context>
    <context>
        <name>ui::DataSketch</name>
<message><source>Beginning of the text</source><translation>文本开头</translation></message>
<message><source>Columns of the table</source><translation>表格的列</translation></message>
    </context>
    <context>
        <name>ui::QueueModel</name>
<message><source>waiting</source><translation>等待中</translation></message>
<message><source>running</source><translation>训练中</translation></message>
<message><source>done</source><translation>已完成</translation></message>
<message><source>failed</source><translation>失败</translation></message>
<message><source>default settings</source><translation>默认设置</translation></message>
<message><source>refused</source><translation>设置无效</translation></message>
<message><source>Settings</source><translation>设置</translation></message>
<message><source>State</source><translation>状态</translation></message>
<message><source>Run</source><translation>运行</translation></message>
<message><source>Compared: %1</source><translation>对比：%1</translation></message>
<message><source>Where</source><translation>训练位置</translation></message>
<message><source>this machine</source><translation>本机</translation></message>
<message><source>Slurm</source><translation>Slurm</translation></message>
<message><source>Slurm, job %1</source><translation>Slurm，作业 %1</translation></message>
<message><source>submitted</source><translation>已提交</translation></message>
<message><source>stopped</source><translation>已停止</translation></message>
</context>
    <context>
        <name>ui::ClusterDialog</name>
<message><source>Jobs for Slurm</source><translation>Slurm 作业</translation></message>
<message><source>Each run becomes a job of its own: sbatch gets this script, with the words in braces replaced.</source><translation>每个运行成为一个单独的作业：花括号中的词被替换后，脚本交给 sbatch。</translation></message>
<message><source>Kept in %1.</source><translation>保存在 %1。</translation></message>
<message><source>Batch script</source><translation>批处理脚本</translation></message>
<message><source>Folder for jobs:</source><translation>作业文件夹：</translation></message>
<message><source>Folder for jobs</source><translation>作业文件夹</translation></message>
<message><source>On a file system that the nodes share. Each job gets a folder in it, with its settings, its output and its run.</source><translation>位于各节点共享的文件系统上。每个作业在其中有一个文件夹，存放其设置、输出和运行。</translation></message>
<message><source>Choose…</source><translation>选择…</translation></message>
<message><source>Default script</source><translation>默认脚本</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Save</source><translation>保存</translation></message>
    </context>
    <context>
        <name>ui::QueuePanel</name>
<message><source>Queue</source><translation>队列</translation></message>
<message><source>Add these settings</source><translation>加入当前设置</translation></message>
<message><source>Adds a run with the settings on the left to the end of the queue.</source><translation>将左侧设置的一次运行排到队列末尾。</translation></message>
<message><source>empty</source><translation>空</translation></message>
<message><source>%1 waiting, %2 ended</source><translation>%1 个等待，%2 个已结束</translation></message>
<message><source>Pause queue</source><translation>暂停队列</translation></message>
<message><source>Start queue</source><translation>开始队列</translation></message>
<message><source>The current run continues; no other one starts.</source><translation>当前运行继续训练，之后不再开始新的运行。</translation></message>
<message><source>default settings</source><translation>默认设置</translation></message>
<message><source>Move up</source><translation>上移</translation></message>
<message><source>Move down</source><translation>下移</translation></message>
<message><source>Run again</source><translation>重新运行</translation></message>
<message><source>Load settings</source><translation>载入设置</translation></message>
<message><source>Remove from the queue</source><translation>从队列中移除</translation></message>
<message><source>Remove all that have ended</source><translation>移除所有已结束的运行</translation></message>
<message><source>Add the comparison</source><translation>加入这组对比</translation></message>
<message><source>Adds a run in each of the compared precisions. They train together, as one.</source><translation>为每种所选精度各加入一个运行。它们作为一个整体一起训练。</translation></message>
<message><source>Command for the shell</source><translation>Shell 命令</translation></message>
<message><source>When all have ended:</source><translation>全部结束后：</translation></message>
<message><source>do nothing</source><translation>无操作</translation></message>
<message><source>run a command</source><translation>运行命令</translation></message>
<message><source>suspend the machine</source><translation>挂起机器</translation></message>
<message><source>A command is forgotten when Halftone quits. It gets HALFTONE_KIND, HALFTONE_RUN, HALFTONE_STATE and HALFTONE_REASON.</source><translation>命令在退出 Halftone 后不会保留。它会得到 HALFTONE_KIND、HALFTONE_RUN、HALFTONE_STATE 和 HALFTONE_REASON。</translation></message>
<message><source>Where:</source><translation>训练位置：</translation></message>
<message><source>this machine</source><translation>本机</translation></message>
<message><source>Slurm</source><translation>Slurm</translation></message>
<message><source>Who trains what is added from now on: this machine, one run after another, or a cluster with Slurm, as a job for each run.</source><translation>此后加入的运行由谁训练：本机逐个训练，或由 Slurm 集群训练，每个运行一个作业。</translation></message>
<message><source>Job script…</source><translation>作业脚本…</translation></message>
<message><source>The batch script of the jobs, and the folder for them.</source><translation>作业的批处理脚本，以及存放作业的文件夹。</translation></message>
<message><source>Trains the waiting runs one after another. Those for Slurm are submitted at once.</source><translation>依次训练等待中的运行。交给 Slurm 的运行会立即提交。</translation></message>
<message><source>Go on</source><translation>继续</translation></message>
<message><source>Train on this machine</source><translation>在本机训练</translation></message>
<message><source>Give to Slurm</source><translation>交给 Slurm</translation></message>
<message><source>Cancel the job</source><translation>取消作业</translation></message>
<message><source>Show what the job printed</source><translation>查看作业的输出</translation></message>
<message><source>There is no %1 yet.</source><translation>%1 尚不存在。</translation></message>
<message><source>No program opens %1.</source><translation>没有程序可以打开 %1。</translation></message>
</context>
    <context>
        <name>ui::SweepForm</name>
<message><source>Sweep</source><translation>参数扫描</translation></message>
<message><source>Trains the settings on the left with every combination of these values.</source><translation>以左侧设置为基础，训练这些取值的所有组合。</translation></message>
<message><source>Another setting</source><translation>再加一个设置</translation></message>
<message><source>Seeds</source><translation>种子数</translation></message>
<message><source>Runs of each combination. Their seeds count up from that of the settings.</source><translation>每种组合的运行次数，从设置中的种子开始依次递增。</translation></message>
<message><source>Add to the queue</source><translation>加入队列</translation></message>
<message><source>setting</source><translation>设置</translation></message>
<message><source>Setting %1</source><translation>设置 %1</translation></message>
<message><source>values, such as 0.1, 0.03, 0.01</source><translation>取值，例如 0.1, 0.03, 0.01</translation></message>
<message><source>Values of setting %1</source><translation>设置 %1 的取值</translation></message>
<message><source>%1 runs</source><translation>%1 次运行</translation></message>
<message><source>A text file with one JSON object of settings per line, such as {"optimizer.lr": 0.1}. Each line is one run, or one per combination of the settings above.</source><translation>文本文件，每行一个设置的 JSON 对象，例如 {"optimizer.lr": 0.1}。每行一个运行；若上面的设置有取值，则每种组合各一个运行。</translation></message>
<message><source>remove</source><translation>移除</translation></message>
<message><source>Remove the list</source><translation>移除列表</translation></message>
<message><source>A list…</source><translation>列表…</translation></message>
<message><source>Open a list of settings</source><translation>打开设置列表</translation></message>
<message><source>Lists (*.jsonl *.json *.txt);;All files (*)</source><translation>列表 (*.jsonl *.json *.txt);;所有文件 (*)</translation></message>
<message><source>%1 cannot be read as a list.</source><translation>无法将 %1 读作列表。</translation></message>
<message><source>Choose a text file of at most 1 MiB.</source><translation>请选择不超过 1 MiB 的文本文件。</translation></message>
<message><source>Enter two or more values for a setting, a list, or several seeds.</source><translation>请为某个设置输入两个或更多取值，或给出列表，或设置多个种子。</translation></message>
    </context>
    <context>
        <name>ui::SweepModel</name>
<message><source>Runs: %1</source><translation>运行：%1</translation></message>
<message><source>validation %1</source><translation>验证%1</translation></message>
<message><source>test %1</source><translation>测试%1</translation></message>
<message><source>%1/%2, %3 failed</source><translation>%1/%2，%3 个失败</translation></message>
<message><source>Settings</source><translation>设置</translation></message>
<message><source>Best</source><translation>最佳</translation></message>
<message><source>Last</source><translation>最后</translation></message>
<message><source>Time</source><translation>用时</translation></message>
<message><source>Seeds</source><translation>种子</translation></message>
<message><source>Runs</source><translation>运行</translation></message>
    </context>
    <context>
        <name>ui::SweepPlot</name>
<message><source>Results of the sweep</source><translation>扫描结果</translation></message>
    </context>
    <context>
        <name>ui::SweepResults</name>
<message><source>Add a sweep to the queue and start it: its results appear here.</source><translation>将参数扫描加入队列并开始后，结果显示在这里。</translation></message>
<message><source>Results</source><translation>结果</translation></message>
<message><source>Sweep</source><translation>参数扫描</translation></message>
<message><source>Results of the sweep</source><translation>扫描结果</translation></message>
<message><source>%1 (%2 runs)</source><translation>%1（%2 次运行）</translation></message>
    </context>
    <context>
        <name>ui::RateFinder</name>
<message><source>Find the learning rate</source><translation>寻找学习率</translation></message>
<message><source>Trains a new model while the rate rises from 1e-7 to 10. Nothing is saved.</source><translation>学习率从 1e-7 升到 10，同时训练一个全新的模型。结果不会保留。</translation></message>
<message><source>Loss while the learning rate rises</source><translation>学习率上升过程中的损失</translation></message>
<message><source>Learning rate</source><translation>学习率</translation></message>
<message><source>Loss</source><translation>损失</translation></message>
<message><source>Close</source><translation>关闭</translation></message>
<message><source>Preparing</source><translation>准备中</translation></message>
<message><source>Update %1, rate %2</source><translation>第 %1 次更新，学习率 %2</translation></message>
<message><source>valley</source><translation>谷底</translation></message>
<message><source>steepest</source><translation>最陡</translation></message>
<message><source>The loss did not fall at any rate: look at the data, the model and the precision.</source><translation>任何学习率下损失都没有下降：请检查数据、模型和精度。</translation></message>
<message><source>Valley: halfway down the longest descent, usually the rate to train with. Steepest: where the loss falls fastest.</source><translation>谷底：最长下降段的中点，通常适合用来训练。最陡：损失下降最快处。</translation></message>
<message><source>Use %1 (%2)</source><translation>使用 %1（%2）</translation></message>
    </context>
    <context>
        <name>ui::AnswerView</name>
<message><source>Answer</source><translation>回答</translation></message>
<message><source>Reconstructed from its code</source><translation>由编码重建的图像</translation></message>
    </context>
    <context>
        <name>ui::ConfusionMatrix</name>
<message><source>Confusion matrix</source><translation>混淆矩阵</translation></message>
<message><source>%1 of %2 were recognised (%3)</source><translation>%1 个“%2”被正确识别（%3）</translation></message>
<message><source>%1 of %2 were called %3 (%4)</source><translation>%1 个“%2”被判为“%3”（%4）</translation></message>
<message><source>Predicted</source><translation>预测类别</translation></message>
<message><source>Actual</source><translation>真实类别</translation></message>
<message><source>Point at a cell to read it.</source><translation>将鼠标移到格子上可查看详情。</translation></message>
    </context>
    <context>
        <name>ui::DrawBoard</name>
<message><source>Canvas to draw on</source><translation>手绘画布</translation></message>
<message><source>Picture for the model</source><translation>输入模型的图片</translation></message>
<message><source>The mouse draws, its right button erases. Arrow keys move the pen; with Shift they draw.</source><translation>按住鼠标左键绘制，右键擦除。方向键移动画笔，同时按住 Shift 则绘制。</translation></message>
<message><source>Drop a PNG or JPEG file here.</source><translation>将 PNG 或 JPEG 文件拖放到此处。</translation></message>
<message><source>Draw here, or drop a picture.</source><translation>在此绘制，或拖入一张图片。</translation></message>
<message><source>Drop a picture.</source><translation>拖入一张图片。</translation></message>
    </context>
    <context>
        <name>ui::EvaluatePanel</name>
<message><source>Evaluate on the test part</source><translation>在测试集上评估</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Parts of the report</source><translation>报告的各部分</translation></message>
<message><source>Confusion matrix</source><translation>混淆矩阵</translation></message>
<message><source>By class</source><translation>按类别</translation></message>
<message><source>Largest loss</source><translation>损失最大的样本</translation></message>
<message><source>A run is training: evaluating shares the machine with it, and both get slower meanwhile.</source><translation>正在训练：评估与训练共用本机，期间两者都会变慢。</translation></message>
<message><source>With this data the figures are not those of the data that the run was trained on, and say so.</source><translation>使用这些数据时，所得数值不对应训练该运行所用的数据，结果中会注明。</translation></message>
    </context>
    <context>
        <name>ui::MaskAsk</name>
<message><source>Text with masks</source><translation>含掩码的文本</translation></message>
<message><source>A text with %1 in place of the words to find</source><translation>输入文本，用 %1 代替要预测的词</translation></message>
<message><source>A text with %1 in place of the characters to find</source><translation>输入文本，用 %1 代替要预测的字符</translation></message>
<message><source>Insert %1</source><translation>插入 %1</translation></message>
<message><source>Puts a mask at the cursor, or in place of the selected text.</source><translation>在光标处插入掩码，或替换选中的文本。</translation></message>
<message><source>The model reads up to %1 tokens.</source><translation>模型最多读取 %1 个词元。</translation></message>
<message><source>The model reads up to %1 words.</source><translation>模型最多读取 %1 个词。</translation></message>
<message><source>The model reads up to %1 characters.</source><translation>模型最多读取 %1 个字符。</translation></message>
<message><source>Put %1 where something is missing.</source><translation>在缺失的位置写上 %1。</translation></message>
    </context>
    <context>
        <name>ui::MaskView</name>
<message><source>Text with its masks filled</source><translation>填充掩码后的文本</translation></message>
<message><source>Mask %1</source><translation>掩码 %1</translation></message>
    </context>
    <context>
        <name>ui::PictureAsk</name>
<message><source>The answer appears here.</source><translation>回答将显示在这里。</translation></message>
<message><source>The picture as the model sees it</source><translation>模型看到的图片</translation></message>
<message><source>As the model sees it: %1 × %2 pixels</source><translation>模型看到的图片：%1 × %2 像素</translation></message>
<message><source>Open picture…</source><translation>打开图片…</translation></message>
<message><source>Pen</source><translation>画笔</translation></message>
<message><source>Thin pen</source><translation>细笔</translation></message>
<message><source>Medium pen</source><translation>中笔</translation></message>
<message><source>Wide pen</source><translation>粗笔</translation></message>
<message><source>Undo</source><translation>撤销</translation></message>
<message><source>Clear</source><translation>清空</translation></message>
<message><source>Open picture</source><translation>打开图片</translation></message>
<message><source>Pictures (*.png *.jpg *.jpeg);;All files (*)</source><translation>图片 (*.png *.jpg *.jpeg);;所有文件 (*)</translation></message>
    </context>
    <context>
        <name>ui::ClassModel</name>
<message><source>Class</source><translation>类别</translation></message>
<message><source>Precision</source><translation>精确率</translation></message>
<message><source>Recall</source><translation>召回率</translation></message>
<message><source>F1</source><translation>F1</translation></message>
<message><source>Samples</source><translation>样本数</translation></message>
    </context>
    <context>
        <name>ui::HardestModel</name>
<message><source>Sample</source><translation>样本</translation></message>
<message><source>Actual</source><translation>真实值</translation></message>
<message><source>Predicted</source><translation>预测值</translation></message>
<message><source>Probability</source><translation>概率</translation></message>
<message><source>Loss</source><translation>损失</translation></message>
    </context>
    <context>
        <name>ui::ReportView</name>
<message><source>Not evaluated yet.</source><translation>尚未评估。</translation></message>
<message><source>Progress of the evaluation</source><translation>评估进度</translation></message>
<message><source>loss %1</source><translation>损失 %1</translation></message>
<message><source>%1 samples of the test part, at step %2</source><translation>测试集 %1 个样本，第 %2 步</translation></message>
<message><source>Figures by class</source><translation>各类别的指标</translation></message>
<message><source>This task has no classes.</source><translation>此任务没有类别。</translation></message>
<message><source>Largest loss</source><translation>损失最大的样本</translation></message>
<message><source>This task has no single samples.</source><translation>此任务不按单个样本计算损失。</translation></message>
<message><source>Sample %1 is %2; the model says %3 with %4. Loss %5.</source><translation>样本 %1 的真实类别为“%2”；模型判为“%3”，概率 %4。损失 %5。</translation></message>
<message><source>Actual class → predicted class, and its probability</source><translation>真实类别 → 预测类别及其概率</translation></message>
    </context>
    <context>
        <name>ui::RowAsk</name>
<message><source>Usual values</source><translation>恢复常见值</translation></message>
<message><source>Sets numbers to their mean in training, and categories to the first one.</source><translation>数值取训练数据的均值，类别取第一个。</translation></message>
<message><source>(none)</source><translation>（无）</translation></message>
    </context>
    <context>
        <name>ui::RunColumn</name>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>Opening…</source><translation>正在打开…</translation></message>
    </context>
    <context>
        <name>ui::TextAsk</name>
<message><source>The continuation appears here.</source><translation>续写的文本将显示在这里。</translation></message>
<message><source>Text of %1</source><translation>%1 续写的文本</translation></message>
<message><source>Beginning of the text</source><translation>文本开头</translation></message>
<message><source>Beginning of the text; may be empty</source><translation>文本开头，可留空</translation></message>
<message><source>Tokens</source><translation>词元数</translation></message>
<message><source>Words</source><translation>词数</translation></message>
<message><source>Characters</source><translation>字符数</translation></message>
<message><source>Length of the continuation.</source><translation>续写的长度。</translation></message>
<message><source>Temperature</source><translation>温度</translation></message>
<message><source>0 always takes the most probable token; above 1 the text becomes more random.</source><translation>0 表示总取概率最大的词元；大于 1 时更随机。</translation></message>
<message><source>Top-k</source><translation>Top-k</translation></message>
<message><source>Draws from the k most probable tokens; 0 draws from all.</source><translation>只在概率最大的 k 个词元中抽样；0 表示不限。</translation></message>
<message><source>Seed</source><translation>随机种子</translation></message>
<message><source>The same seed gives the same text again.</source><translation>相同的种子得到相同的文本。</translation></message>
<message><source>Generate</source><translation>生成</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
    </context>
    <context>
        <name>ui::TriedModel</name>
<message><source>This run has not begun yet.</source><translation>此运行尚未开始。</translation></message>
<message><source>No prediction</source><translation>无预测</translation></message>
    </context>
    <context>
        <name>ui::TryItPage</name>
<message><source>No checkpoint yet. Run &gt; Save a checkpoint now saves one at once.</source><translation>还没有检查点。“运行 &gt; 立即保存检查点”可立即保存一个。</translation></message>
<message><source>What to do with the models</source><translation>模型的用途</translation></message>
<message><source>Ask</source><translation>提问</translation></message>
<message><source>Evaluate</source><translation>评估</translation></message>
<message><source>Checkpoint</source><translation>检查点</translation></message>
<message><source>Weights now, while paused</source><translation>暂停时的当前权重</translation></message>
<message><source>Last checkpoint</source><translation>最后的检查点</translation></message>
<message><source>Best checkpoint</source><translation>最佳检查点</translation></message>
<message><source>The first %1 of %2 runs on screen</source><translation>屏幕上 %2 个运行中的前 %1 个</translation></message>
<message><source>Train a run, or select one under Runs.</source><translation>请先训练一次，或在运行历史中选择一个运行。</translation></message>
<message><source>Opening the models…</source><translation>正在打开模型…</translation></message>
<message><source>Runs with other inputs are listed under Evaluate only.</source><translation>输入类型不同的运行仅列在“评估”中。</translation></message>
<message><source>This model takes no manual input. It can be evaluated.</source><translation>此模型不支持手动输入，但可以评估。</translation></message>
    </context>
    <context>
        <name>ui::RandomAsk</name>
<message><source>Draw others</source><translation>重新生成</translation></message>
<message><source>Draws new pictures from other random numbers, the same for each model.</source><translation>换一组随机数重新生成，各模型使用同一组。</translation></message>
<message><source>Pictures of %1</source><translation>%1 的图像</translation></message>
<message><source>Random numbers of seed %1</source><translation>随机种子 %1</translation></message>
    </context>
    <context>
        <name>ui::SampleStrip</name>
<message><source>Pictures that the models draw</source><translation>模型生成的图像</translation></message>
<message><source>Click for all pictures of the run.</source><translation>点击查看本次运行的全部图像。</translation></message>
<message><source>Pictures of %1</source><translation>%1 的图像</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
    </context>
    <context>
        <name>ui::SampleViewer</name>
<message><source>Pictures of %1</source><translation>%1 的图像</translation></message>
<message><source>Step</source><translation>步</translation></message>
<message><source>Step %1, picture %2 of %3</source><translation>第 %1 步，第 %2 张，共 %3 张</translation></message>
    </context>
<context>
    <name>ui::ChangedDataDialog</name>
<message><source>The data have changed</source><translation>数据已改变</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Go on with this data</source><translation>使用这些数据继续</translation></message>
</context>
<context>
    <name>ui::LongerDialog</name>
<message><source>Train longer</source><translation>继续训练更多轮</translation></message>
<message><source>Run %1 has made all of its steps. It goes on as a new run, which has its steps so far.</source><translation>运行 %1 已完成全部步数。它将作为新的运行继续，并包含至今的各步。</translation></message>
<message><source>Epochs in all</source><translation>总轮数</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>The learning rate has fallen to the end of its schedule. In the added steps it</source><translation>学习率已降到计划的终点。在增加的步中，学习率</translation></message>
<message><source>stays at its last value</source><translation>保持最后的值</translation></message>
<message><source>begins the schedule anew</source><translation>重新开始计划</translation></message>
<message><source>follows one schedule over all steps, so that it jumps</source><translation>按覆盖全部步数的一个计划变化，因此会跳变</translation></message>
</context>
<context>
    <name>RunActions</name>
<message><source>Run %1 has received the request, and does so after what it is computing.</source><translation>运行 %1 已收到请求，会在完成当前计算后执行。</translation></message>
<message><source>Run %1 has stopped.</source><translation>运行 %1 已停止。</translation></message>
<message><source>Run %1 is paused.</source><translation>运行 %1 已暂停。</translation></message>
<message><source>Run %1 goes on.</source><translation>运行 %1 已继续。</translation></message>
<message><source>Waiting for the process that trains run %1</source><translation>正在等待训练运行 %1 的进程</translation></message>
<message><source>Another program trains this run.</source><translation>该运行由其他程序训练。</translation></message>
<message><source>This run is being trained.</source><translation>该运行正在训练。</translation></message>
<message><source>The folder of this run is gone.</source><translation>该运行的文件夹已不存在。</translation></message>
<message><source>This run is being trained on %1. If it was cut off there, it can be resumed once that machine has been silent for 90 s.</source><translation>该运行正在 %1 上训练。若它在那里已中断，该机器 90 秒没有消息后即可在此恢复。</translation></message>
<message><source>Select a run first.</source><translation>请先选择一个运行。</translation></message>
<message><source>Select one run, or the runs of one comparison or sweep.</source><translation>请选择一个运行，或同一对比或扫描的运行。</translation></message>
<message><source>All of these runs have ended. Select one to give it more epochs.</source><translation>这些运行都已结束。如需更多轮数，请选择其中一个。</translation></message>
<message><source>run %1</source><translation>运行 %1</translation></message>
<message><source>sweep %1</source><translation>扫描 %1</translation></message>
<message><source>comparison %1</source><translation>对比 %1</translation></message>
<message><source>%1 runs</source><translation>%1 个运行</translation></message>
</context>
<context>
    <name>RunText</name>
<message><source>running</source><translation>运行中</translation></message>
<message><source>running on %1</source><translation>在 %1 上运行</translation></message>
<message><source>paused on %1</source><translation>在 %1 上已暂停</translation></message>
<message><source>paused</source><translation>已暂停</translation></message>
<message><source>%1 silent for %2</source><translation>%1 已 %2 无消息</translation></message>
<message><source>done</source><translation>完成</translation></message>
<message><source>stopped</source><translation>已停止</translation></message>
<message><source>failed</source><translation>失败</translation></message>
<message><source>interrupted</source><translation>中断</translation></message>
<message><source>missing</source><translation>缺失</translation></message>
<message><source>Test %1</source><translation>测试%1</translation></message>
<message><source>Data set</source><translation>数据集</translation></message>
</context>
<context>
    <name>ui::RunTableModel</name>
<message><source>%1, starred</source><translation>%1，已加星标</translation></message>
<message><source>%1 runs</source><translation>%1 个运行</translation></message>
<message><source>%1 runs: %2</source><translation>%1 个运行：%2</translation></message>
<message><source>Run</source><translation>运行</translation></message>
</context>
<context>
    <name>ui::DifferenceModel</name>
<message><source>Settings that differ from the defaults</source><translation>与默认值不同的设置</translation></message>
<message><source>Settings that differ</source><translation>不同的设置</translation></message>
<message><source>Results</source><translation>结果</translation></message>
<message><source>from the preset</source><translation>取自预设</translation></message>
<message><source>none</source><translation>无</translation></message>
</context>
<context>
    <name>ui::RunDetails</name>
<message><source>Name</source><translation>名称</translation></message>
<message><source>Tags</source><translation>标签</translation></message>
<message><source>Notes</source><translation>备注</translation></message>
<message><source>separated by commas</source><translation>以逗号分隔</translation></message>
<message><source>Figures and settings</source><translation>指标与设置</translation></message>
<message><source>Select one run to name it and to see its settings, or several to see how they differ.</source><translation>选择一个运行可为其命名并查看设置；选择多个可查看它们的差异。</translation></message>
<message><source>The first %1 of %2 selected runs</source><translation>所选 %2 个运行中的前 %1 个</translation></message>
<message><source>%1 runs</source><translation>%1 个运行</translation></message>
<message><source>Run %1</source><translation>运行 %1</translation></message>
</context>
<context>
    <name>ui::RunTable</name>
<message><source>Runs</source><translation>运行</translation></message>
</context>
<context>
    <name>ui::RunTableColumns</name>
<message><source>Test metrics</source><translation>测试指标</translation></message>
<message><source>Training settings</source><translation>训练设置</translation></message>
<message><source>Usual columns</source><translation>恢复默认列</translation></message>
</context>
<context>
    <name>ui::RunsPage</name>
<message><source>Free checkpoints…</source><translation>释放检查点…</translation></message>
<message><source>Deletes all checkpoints but the best and the last one of each run.</source><translation>删除每个运行中除最佳和最后检查点以外的全部检查点。</translation></message>
<message><source>Filter</source><translation>筛选</translation></message>
<message><source>Group comparisons</source><translation>按对比分组</translation></message>
<message><source>Groups the runs of one comparison or sweep below a line of their own.</source><translation>同一次对比或参数扫描的运行归在一行之下。</translation></message>
<message><source>Columns…</source><translation>列…</translation></message>
<message><source>Select a run first.</source><translation>请先选择运行。</translation></message>
<message><source>Select one run.</source><translation>请选择一个运行。</translation></message>
<message><source>Open</source><translation>打开</translation></message>
<message><source>Shows the run on the Training page.</source><translation>在“训练”页显示该运行。</translation></message>
<message><source>Overlay</source><translation>叠加</translation></message>
<message><source>Overlays the selected runs.</source><translation>将所选运行的曲线叠加显示。</translation></message>
<message><source>Select two runs or more.</source><translation>请选择两个或更多运行。</translation></message>
<message><source>Run again with changes</source><translation>修改后重新运行</translation></message>
<message><source>Puts the settings of the run into the panel on the left.</source><translation>将该运行的设置载入左侧面板。</translation></message>
<message><source>Resume</source><translation>恢复</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Report…</source><translation>报告…</translation></message>
<message><source>Settings, curves and verdict as a web page or PDF.</source><translation>将设置、曲线和结论写成网页或 PDF。</translation></message>
<message><source>Delete…</source><translation>删除…</translation></message>
<message><source>Moves the runs to the trash.</source><translation>将运行移到回收站。</translation></message>
<message><source>Every run is saved and listed here.</source><translation>每次运行都会保留并列在这里。</translation></message>
<message><source>No run matches the filter.</source><translation>没有符合筛选条件的运行。</translation></message>
<message><source>%1 runs</source><translation>%1 个运行</translation></message>
<message><source>%1 of %2 runs</source><translation>%1 / %2 个运行</translation></message>
<message><source>Rename</source><translation>重命名</translation></message>
<message><source>Star on or off</source><translation>添加或去除星标</translation></message>
<message><source>Continues from the last checkpoint; a comparison as a whole.</source><translation>从最后一个检查点继续；对比会作为整体继续。</translation></message>
<message><source>One run in any form; several as CSV of their steps, or whole in one file.</source><translation>单个运行可导出为任意形式；多个运行可将各步导出为 CSV，或完整保存在一个文件中。</translation></message>
<message><source>Filter, such as &quot;Learning rate&quot;&gt;0.01 tag:sweep</source><translation>筛选，例如 &quot;学习率&quot;&gt;0.01 tag:sweep</translation></message>
<message><source>Words, or FIELD=VALUE, where = may also be != &lt; &lt;= &gt; &gt;= or ~ (contains). A dash in front negates. Fields are settings and results by their titles, in quotes if they have several words (&quot;Learning rate&quot;&gt;0.01), or as on the command line (lr&gt;0.01). There are also tag:NAME and starred. Ctrl+F or / jumps here.</source><translation>词，以及 字段=值，也可用 != &lt; &lt;= &gt; &gt;= 或 ~（包含）；前面加减号表示否定。字段是设置和结果的名称，含空格时加引号（&quot;学习率&quot;&gt;0.01），也可像命令行那样写（lr&gt;0.01）。还有 tag:名称 和 starred。按 Ctrl+F 或 / 跳到这里。</translation></message>
</context>
<context>
    <name>ui::ProblemDialog</name>
<message><source>Report a problem</source><translation>报告问题</translation></message>
<message><source>The archive holds the texts below and nothing else: no data, no notes, no path of your home folder, no name of you or this machine.</source><translation>归档只包含下列文本：没有数据，没有备注，没有您主目录中的路径，也没有您或这台机器的名称。</translation></message>
<message><source>Look through it, save it, and send it along with what you did and what you expected.</source><translation>请先查看并保存，然后连同您的操作步骤和预期结果一起发送。</translation></message>
<message><source>Texts of the report</source><translation>报告中的文本</translation></message>
<message><source>The selected text</source><translation>所选文本</translation></message>
<message><source>The report is being made…</source><translation>正在生成报告…</translation></message>
<message><source>Close</source><translation>关闭</translation></message>
<message><source>Save…</source><translation>保存…</translation></message>
<message><source>Archive (*.zip)</source><translation>归档 (*.zip)</translation></message>
<message><source>Saved %1.</source><translation>已保存 %1。</translation></message>
<message><source>Saving the report</source><translation>正在保存报告</translation></message>
</context>
<context>
    <name>ui::DeleteQuestion</name>
<message><source>Free</source><translation>释放</translation></message>
<message><source>Free the checkpoints of %1?</source><translation>释放 %1 的检查点？</translation></message>
<message><source>%1 checkpoints (%2) are deleted for good. The best and the last one of each run stay.</source><translation>将永久删除 %1 个检查点（%2）。每个运行的最佳检查点和最后检查点会保留。</translation></message>
<message><source>There is nothing to free: only the best and the last checkpoints are left.</source><translation>没有可释放的内容：只剩最佳检查点和最后检查点。</translation></message>
<message><source>Run %1 is being trained. Stop it before you free its checkpoints.</source><translation>运行 %1 正在训练，请先停止再释放其检查点。</translation></message>
<message><source>Delete</source><translation>删除</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Run %1 is being trained. Stop it before you delete it.</source><translation>运行 %1 正在训练，请先停止再删除。</translation></message>
<message><source>Delete %1?</source><translation>删除 %1？</translation></message>
<message><source>Settings, events and all steps move to the trash. Without a trash they are deleted for good.</source><translation>设置、事件和所有步的记录会移到回收站；没有回收站时将永久删除。</translation></message>
</context>
<context>
    <name>ui::RunHistory</name>
<message><source>%1 of checkpoints freed.</source><translation>已释放检查点 %1。</translation></message>
<message><source>Freeing checkpoints</source><translation>正在释放检查点</translation></message>
<message><source>Imported as run %1.</source><translation>已导入为运行 %1。</translation></message>
<message><source>Imported as sweep %1, runs %2 to %3.</source><translation>已导入为扫描 %1，运行 %2 至 %3。</translation></message>
<message><source>Imported as comparison %1, runs %2 to %3.</source><translation>已导入为对比 %1，运行 %2 至 %3。</translation></message>
<message><source>Imported as runs %1 to %2.</source><translation>已导入为运行 %1 至 %2。</translation></message>
<message><source>Importing %1</source><translation>正在导入 %1</translation></message>
</context>
    <context>
        <name>ui::ScaleStrip</name>
<message><source>Scale %1, %2 skipped steps.</source><translation>缩放因子 %1，跳过 %2 步。</translation></message>
<message><source>Loss scale and skipped steps</source><translation>损失缩放与跳过的步</translation></message>
<message><source>Left and right choose a step, with Ctrl a skipped one; End returns to the newest.</source><translation>左右键选择步，加 Ctrl 选择跳过的步；End 回到最新一步。</translation></message>
<message><source>Loss scale; red ticks are skipped steps. Drag to choose a step, click a tick to open the skip, double click to return to the newest step.</source><translation>损失缩放；红色刻度为跳过的步。拖动选择步，单击刻度打开该次跳过，双击回到最新一步。</translation></message>
<message><source>no loss scale</source><translation>无损失缩放</translation></message>
    </context>
    <context>
        <name>ui::StepChooser</name>
<message><source>Live</source><translation>实时</translation></message>
<message><source>Run</source><translation>运行</translation></message>
<message><source>Follow the newest step (L)</source><translation>跟随最新一步（L）</translation></message>
<message><source>Previous step; with Ctrl the previous skip</source><translation>上一步；按住 Ctrl 跳到上一次跳过</translation></message>
<message><source>Next step; with Ctrl the next skip</source><translation>下一步；按住 Ctrl 跳到下一次跳过</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
    </context>
    <context>
        <name>ui::MicroscopeModel</name>
<message><source>The run ended before its first histograms. A shadow pass (P) counts one step.</source><translation>运行在首次直方图之前就结束了。影子计算（P）可以统计一步。</translation></message>
<message><source>Start a run, or open one with histograms.</source><translation>开始一次运行，或打开一个保存了直方图的运行。</translation></message>
<message><source>This sample holds no values of this kind.</source><translation>此样本中没有这类数值。</translation></message>
<message><source>The first histograms are taken at step %1.</source><translation>首批直方图将在第 %1 步生成。</translation></message>
<message><source>This run keeps no histograms. A shadow pass (P) counts one step; to keep them, set "histograms every" under Instruments and start it again.</source><translation>此运行未保存直方图。影子计算（P）可统计一步；若要保存，请在“仪器”下设置“直方图间隔”并重新启动。</translation></message>
</context>
    <context>
        <name>ui::MicroscopePage</name>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>%1 · sampled every 50 steps, at most 4 a second</source><translation>%1 · 每 50 步采样，每秒最多 4 次</translation></message>
<message><source>Gradients</source><translation>梯度</translation></message>
<message><source>Activations</source><translation>激活</translation></message>
<message><source>Weights</source><translation>权重</translation></message>
<message><source>Updates</source><translation>更新量</translation></message>
<message><source>Of the parameters, multiplied by the loss scale</source><translation>参数的梯度，已乘以损失缩放</translation></message>
<message><source>Outputs of the forward pass</source><translation>前向传播的输出</translation></message>
<message><source>Before the update; the FP32 masters where there are any</source><translation>更新之前的值；有 FP32 主权重时取主权重</translation></message>
<message><source>Weights after the update minus before</source><translation>更新后的权重减去更新前的权重</translation></message>
<message><source>Layers</source><translation>层</translation></message>
<message><source>linear</source><translation>线性</translation></message>
<message><source>log</source><translation>对数</translation></message>
<message><source>Shares on a linear axis</source><translation>占比使用线性坐标轴</translation></message>
<message><source>Shares on a log axis</source><translation>占比使用对数坐标轴</translation></message>
<message><source>Drift</source><translation>漂移</translation></message>
<message><source>step %1 in FP32</source><translation>第 %1 步（FP32）</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>%1 · sampled every %2 steps</source><translation>%1 · 每 %2 步采样</translation></message>
<message><source>FP32 shadow pass of this step: the values as they are before FP16 rounds any to zero.</source><translation>本步的 FP32 影子计算：FP16 将小数值舍入为零之前的真实数值。</translation></message>
<message><source>In FP16 the smallest values were rounded to zero before they could be counted.</source><translation>在 FP16 中，最小的数值在计数之前已被舍入为零。</translation></message>
<message><source>This step was also computed in FP32.</source><translation>本步也以 FP32 计算过。</translation></message>
<message><source>Show as measured</source><translation>显示实测值</translation></message>
<message><source>Show the shadow pass</source><translation>显示影子计算</translation></message>
<message><source>(the model)</source><translation>（整个模型）</translation></message>
<message><source>%1 values in %2</source><translation>%2 中的 %1 个数值</translation></message>
<message><source>exponents at %1</source><translation>缩放为 %1 时的指数</translation></message>
<message><source>exponents as stored</source><translation>存储时的指数</translation></message>
<message><source>Histogram</source><translation>直方图</translation></message>
<message><source>step × exponent before scaling</source><translation>步 × 缩放前的指数</translation></message>
<message><source>step × exponent</source><translation>步 × 指数</translation></message>
<message><source>Shadow pass now</source><translation>立即影子计算</translation></message>
<message><source>Computes this step again in FP32, with the same weights, batch and masks, to show what FP16 rounded to zero (P). Training waits for it.</source><translation>以相同的权重、批次和掩码用 FP32 重新计算本步，显示被 FP16 舍入为零的数值（P）。训练会等待其完成。</translation></message>
<message><source>Computing the step in FP32…</source><translation>正在以 FP32 计算该步…</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Save the displayed histograms as CSV, or the plots as PNG or SVG (Ctrl+E)</source><translation>将所示直方图导出为 CSV，或将图导出为 PNG 或 SVG（Ctrl+E）</translation></message>
<message><source>Paused before step %1: shadow pass available</source><translation>已在第 %1 步之前暂停：可运行影子计算</translation></message>
<message><source>Run the shadow pass</source><translation>运行影子计算</translation></message>
<message><source>Computes the next step on a copy in FP32, with the same weights, batch and masks, to show what FP16 rounds to zero (P). Training waits for it; the run does not change.</source><translation>在副本上以相同的权重、批次和掩码用 FP32 计算下一步，显示被 FP16 舍入为零的数值（P）。训练会等待其完成；运行本身不受影响。</translation></message>
<message><source>Values</source><translation>数值</translation></message>
<message><source>Axis of the shares</source><translation>占比坐标轴</translation></message>
</context>
    <context>
        <name>ui::ExponentPlot</name>
<message><source>Exponents of the selected layer</source><translation>所选层的指数</translation></message>
<message><source>%1: %2 values from %3 to %4, %5 zero, %6 infinite or NaN</source><translation>%1：%2 个数值，从 %3 到 %4，%5 个为零，%6 个为无穷或 NaN</translation></message>
<message><source>rounds to zero</source><translation>舍入为零</translation></message>
<message><source>subnormal</source><translation>次正规数</translation></message>
<message><source>normal</source><translation>正规数</translation></message>
<message><source>inf</source><translation>inf</translation></message>
<message><source>rounded to zero, size unknown</source><translation>已舍入为零，大小未知</translation></message>
<message><source>drag: × %1</source><translation>拖动：× %1</translation></message>
<message><source>now × %1; drag</source><translation>当前 × %1；可拖动</translation></message>
<message><source>× %1; drag</source><translation>× %1；可拖动</translation></message>
<message><source>%1 to %2: %3 values, %4</source><translation>%1 到 %2：%3 个数值，占 %4</translation></message>
<message><source>Run the shadow pass</source><translation>运行影子计算</translation></message>
</context>
    <context>
        <name>ui::LayerMap</name>
<message><source>%1 layers; %2 is selected.</source><translation>%1 层，选中 %2。</translation></message>
<message><source>(the model)</source><translation>（整个模型）</translation></message>
<message><source>Exponents by layer</source><translation>各层的指数</translation></message>
<message><source>inf</source><translation>inf</translation></message>
<message><source>zero %</source><translation>零 %</translation></message>
<message><source>largest at %1</source><translation>缩放为 %1 时的最大值</translation></message>
<message><source>none</source><translation>无</translation></message>
<message><source>%1: %2 values, stored as %3</source><translation>%1：%2 个数值，以 %3 存储</translation></message>
<message><source>headroom, bits</source><translation>余量（位）</translation></message>
    </context>
    <context>
        <name>ui::DriftMap</name>
<message><source>%1 over %2 steps.</source><translation>%1，共 %2 步。</translation></message>
<message><source>Exponents of the selected layer by step</source><translation>所选层各步的指数</translation></message>
<message><source>overflows above</source><translation>以上溢出</translation></message>
<message><source>subnormal below</source><translation>以下为次正规数</translation></message>
<message><source>zero below</source><translation>以下为零</translation></message>
    </context>
    <context>
        <name>ui::ScaleTable</name>
<message><source>%1 bits</source><translation>%1 位</translation></message>
<message><source>scale</source><translation>缩放</translation></message>
<message><source>zero</source><translation>零</translation></message>
<message><source>subnormal</source><translation>次正规</translation></message>
<message><source>normal</source><translation>正规</translation></message>
<message><source>overflow</source><translation>溢出</translation></message>
<message><source>headroom ↑</source><translation>余量 ↑</translation></message>
<message><source>headroom ↓</source><translation>余量 ↓</translation></message>
<message><source>outcome</source><translation>本步结果</translation></message>
<message><source>Values that round to zero</source><translation>舍入为零的数值</translation></message>
<message><source>Values that keep fewer digits</source><translation>位数减少的数值</translation></message>
<message><source>Values that keep all digits of the format</source><translation>保留该格式全部位数的数值</translation></message>
<message><source>Values that become infinite</source><translation>变为无穷的数值</translation></message>
<message><source>How often the scale may double before a value overflows</source><translation>缩放再翻倍多少次才会有数值溢出</translation></message>
<message><source>How often the scale may halve before more than 0.1 % of the values are lost</source><translation>缩放再减半多少次才会丢失超过 0.1 % 的数值</translation></message>
<message><source>What the step would do at this scale, by the gradients of all layers</source><translation>依据所有层的梯度，本步在此缩放下的结果</translation></message>
<message><source>skipped, then %1</source><translation>跳过，随后为 %1</translation></message>
<message><source>applied, small gradients lost</source><translation>已应用，丢失小梯度</translation></message>
<message><source>applied</source><translation>已应用</translation></message>
<message><source>%1 values</source><translation>%1 个</translation></message>
<message><source>as stored</source><translation>存储时</translation></message>
<message><source>none (scale 1)</source><translation>无（缩放 1）</translation></message>
<message><source>now, %1</source><translation>当前，%1</translation></message>
<message><source>step %1, %2</source><translation>第 %1 步，%2</translation></message>
<message><source>not known: values overflowed at %1</source><translation>未知：有数值在 %1 上溢</translation></message>
<message><source>dragged, %1</source><translation>拖动后，%1</translation></message>
<message><source>applied, the weights become NaN</source><translation>已应用，权重变为 NaN</translation></message>
    </context>
    <context>
        <name>ui::TwinModel</name>
<message><source>The loss of the second run minus that of the reference, step by step.</source><translation>第二个运行的损失减去参考运行的损失，逐步显示。</translation></message>
<message><source>The first comparison comes with the first step.</source><translation>第一次比较在第一步产生。</translation></message>
<message><source>No twin is on screen. Start one: it trains two precisions in lockstep and compares their gradients in each step.</source><translation>屏幕上没有孪生对比。开始一个：它以两种精度同步训练，并逐步比较两者的梯度。</translation></message>
<message><source>(the model)</source><translation>（整个模型）</translation></message>
<message><source>Overlay run %1, the reference, to see how far apart the losses are.</source><translation>叠加显示参考运行 %1，即可查看两者的损失相差多少。</translation></message>
    </context>
    <context>
        <name>ui::TwinMap</name>
<message><source>How far the gradients of each layer are apart, step by step.</source><translation>两个运行中各层的梯度在每一步相差多少。</translation></message>
<message><source>%1 layers over %2 steps. %3 in step %4: error %5.</source><translation>%1 层，共 %2 步。%3 在第 %4 步：误差 %5。</translation></message>
<message><source>Gradient error by layer and step</source><translation>各层各步的梯度误差</translation></message>
<message><source>Step %1 was skipped</source><translation>第 %1 步被跳过</translation></message>
<message><source>%1, step %2: error %3, angle %4°</source><translation>%1，第 %2 步：误差 %3，夹角 %4°</translation></message>
    </context>
    <context>
        <name>ui::LossGap</name>
<message><source>Loss gap</source><translation>损失差</translation></message>
<message><source>Gap %1, noise ±%2</source><translation>差 %1，噪声 ±%2</translation></message>
<message><source>gap %1</source><translation>差 %1</translation></message>
<message><source>noise of the mean ±%1</source><translation>均值的噪声 ±%1</translation></message>
    </context>
    <context>
        <name>ui::TwinTable</name>
<message><source>Each layer's gradient in the selected step, against that of the reference: error, angle, and how much of it is rounding.</source><translation>所选步中各层梯度与参考运行的对比：误差、夹角，以及其中舍入所占的部分。</translation></message>
<message><source>layer</source><translation>层</translation></message>
<message><source>error</source><translation>误差</translation></message>
<message><source>angle</source><translation>夹角</translation></message>
<message><source>rounding</source><translation>舍入</translation></message>
<message><source>diverged</source><translation>分离</translation></message>
<message><source>Layers</source><translation>层</translation></message>
<message><source>no</source><translation>否</translation></message>
<message><source>Skipped: the gradients are not finite</source><translation>已跳过：梯度非有限值</translation></message>
<message><source>Largest error in this step: %1</source><translation>本步的最大误差：%1</translation></message>
<message><source>At most %1 is rounding, as measured in the last step that began with the same weights. The rest is drift.</source><translation>其中至多 %1 来自舍入（在最近一次以相同权重开始的步中测得），其余为漂移。</translation></message>
    </context>
    <context>
        <name>ui::SinceResync</name>
<message><source>%1: error %2 in step %3, %4 resyncs so far.</source><translation>%1：第 %3 步误差 %2，至今重新同步 %4 次。</translation></message>
<message><source>How the error of one layer grows from one resync to the next.</source><translation>从一次重新同步到下一次，某一层的误差如何增长。</translation></message>
<message><source>Error of the selected layer since each resync</source><translation>所选层自每次重新同步以来的误差</translation></message>
<message><source>%1: error by steps since the last resync</source><translation>%1：自上次重新同步以来各步的误差</translation></message>
    </context>
    <context>
        <name>ui::TwinPage</name>
<message><source>Start another twin</source><translation>再次开始孪生对比</translation></message>
<message><source>Start a twin: about 4.5× the time of AMP alone</source><translation>开始孪生对比：约为单独 AMP 的 4.5 倍时间</translation></message>
<message><source>Loss gap</source><translation>损失差</translation></message>
<message><source>second run minus the reference · raw behind, mean of 20 steps in front</source><translation>第二个运行减去参考 · 后为原始值，前为 20 步均值</translation></message>
<message><source>The reference leaves out the steps that the other run skips, so that both have made the same number of updates.</source><translation>参考运行也略过另一个运行所跳过的步，使两者的更新次数相同。</translation></message>
<message><source>Automatic resync</source><translation>自动重新同步</translation></message>
<message><source>Copies the state of the reference over every N steps</source><translation>每隔若干步复制参考运行的状态</translation></message>
<message><source>resync every %1</source><translation>每 %1 步重新同步</translation></message>
<message><source>Resync now</source><translation>立即重新同步</translation></message>
<message><source>At the end of the step the second run takes the weights, masters, buffers, carried state and optimizer state of the reference (Y). The only difference after that is rounding.</source><translation>在本步结束时，第二个运行取用参考运行的权重、主权重、缓冲区、传递状态和优化器状态（Y）。此后剩下的只有舍入误差。</translation></message>
<message><source>Gradient error</source><translation>梯度误差</translation></message>
<message><source>angle</source><translation>夹角</translation></message>
<message><source>relative error</source><translation>相对误差</translation></message>
<message><source>angle between both gradients, 0.1° to 90°</source><translation>两个梯度的夹角，0.1° 到 90°</translation></message>
<message><source>|g − g(reference)| ÷ |g(reference)|, 0.1 % to 100 %</source><translation>|g − g(参考)| ÷ |g(参考)|，0.1 % 到 100 %</translation></message>
<message><source>Layers</source><translation>层</translation></message>
<message><source>Bitwise identical over %1 steps.</source><translation>%1 步内逐位一致。</translation></message>
<message><source>Trains the first two of the compared precisions in lockstep. Takes about the time of both, plus that of comparing their gradients</source><translation>以所对比的前两种精度同步训练：约需两者之和的时间，外加比较梯度的时间</translation></message>
<message><source>Something is training. Stop it first.</source><translation>正在训练。请先停止。</translation></message>
<message><source>%1 and %2 in lockstep: same weights, batches, augmentation and dropout masks at the start</source><translation>%1 与 %2 同步：起始权重、批次、增强和 dropout 掩码均相同</translation></message>
<message><source>Two precisions in lockstep</source><translation>两种精度同步训练</translation></message>
<message><source>Layers at step %1</source><translation>第 %1 步的各层</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Save the layers at this step as CSV, or the plots as PNG or SVG (Ctrl+E)</source><translation>将这一步各层的数据导出为 CSV，或将图导出为 PNG 或 SVG（Ctrl+E）</translation></message>
<message><source>Since the resync</source><translation>重新同步以来</translation></message>
<message><source>Error since the resync</source><translation>重新同步以来的误差</translation></message>
<message><source>Displayed measure</source><translation>显示的度量</translation></message>
<message><source>Skip together</source><translation>一同跳过</translation></message>
<message><source>automatic resync: off</source><translation>自动重新同步：关</translation></message>
<message><source>After the resync, from step %1 on: %2</source><translation>重新同步之后（从第 %1 步起）：%2</translation></message>
<message><source>%1 parted first, at step %2 (error above 10 % for five steps).</source><translation>%1 最先分离，在第 %2 步（误差连续五步超过 10 %）。</translation></message>
<message><source>No layer's gradient was more than 10 % off for five steps.</source><translation>没有任何层的梯度连续五步偏离超过 10 %。</translation></message>
<message><source>Before the resync %1 had parted first, at step %2.</source><translation>重新同步之前，%1 最先分离，在第 %2 步。</translation></message>
    </context>
    <context>
        <name>ui::LintList</name>
<message><source>Fix it</source><translation>修复</translation></message>
<message><source>Fix it: %1</source><translation>修复：%1</translation></message>
    </context>
    <context>
        <name>ui::OpTree</name>
<message><source>forced by %1</source><translation>由 %1 强制</translation></message>
<message><source>on the 16-bit list</source><translation>在 16 位列表中</translation></message>
<message><source>on the FP32 list</source><translation>在 FP32 列表中</translation></message>
<message><source>widest of its inputs</source><translation>取输入中最宽的类型</translation></message>
<message><source>types of the forward pass</source><translation>沿用前向传播的类型</translation></message>
<message><source>outside autocast</source><translation>在自动混合精度之外</translation></message>
<message><source>no entry: keeps its input&apos;s type</source><translation>无条目：保持输入类型</translation></message>
<message><source>Forward</source><translation>前向</translation></message>
<message><source>Backward</source><translation>反向</translation></message>
<message><source>Optimizer</source><translation>优化器</translation></message>
<message><source>%1 from cache</source><translation>%1 次来自缓存</translation></message>
<message><source>%1  ·  %2 ops</source><translation>%1  ·  %2 个算子</translation></message>
<message><source>module and operation</source><translation>模块与算子</translation></message>
<message><source>inputs → output</source><translation>输入 → 输出</translation></message>
<message><source>rule that decided</source><translation>决定类型的规则</translation></message>
<message><source>casts</source><translation>转换</translation></message>
<message><source>µs</source><translation>µs</translation></message>
<message><source>of peak</source><translation>占峰值</translation></message>
<message><source>output</source><translation>输出</translation></message>
<message><source>1 cast</source><translation>1 次转换</translation></message>
<message><source>%1 casts</source><translation>%1 次转换</translation></message>
<message><source>%1  ·  1 op</source><translation>%1  ·  1 个算子</translation></message>
<message><source>no entry: decided by its parts</source><translation>无条目：由其组成部分决定</translation></message>
<message><source>forced to %1 in the experiment</source><translation>在实验中强制为 %1</translation></message>
<message><source>A filled dot: forced by precision.force, or in the experiment. A ring: autocast decides, by its lists or the widest input.</source><translation>实心点：由 precision.force 或实验强制。圆环：由 autocast 决定，依据其列表或最宽的输入。</translation></message>
    </context>
    <context>
        <name>ui::Timeline</name>
<message><source>%1 operations in %2.</source><translation>%1 个算子，用时 %2。</translation></message>
<message><source>No step was traced yet.</source><translation>尚未追踪任何一步。</translation></message>
<message><source>Timeline of the step</source><translation>本步的时间线</translation></message>
<message><source>forward</source><translation>前向</translation></message>
<message><source>backward</source><translation>反向</translation></message>
<message><source>optimizer</source><translation>优化器</translation></message>
<message><source>%1 %2</source><translation>%1 %2</translation></message>
<message><source>%1 %2: %3 µs, %4</source><translation>%1 %2：%3 µs，%4</translation></message>
<message><source>%1 of peak</source><translation>峰值的 %1</translation></message>
<message><source>no products</source><translation>无乘积运算</translation></message>
<message><source>The operations over the time of the step. Their height is their share of the peak throughput.</source><translation>各算子在这一步中的时间分布，高度为其占峰值的比例。</translation></message>
    </context>
    <context>
        <name>ui::XrayPage</name>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>%1 · the table shows the step before %2 was forced</source><translation>%1 · 表中是强制 %2 之前的这一步</translation></message>
<message><source>%1, no change</source><translation>%1，无变化</translation></message>
<message><source>Trace this step</source><translation>追踪本步</translation></message>
<message><source>Computes the selected step once more, operation by operation (T). Before the first run: the first step of the settings. Training waits for it.</source><translation>逐个算子重新计算所选的步（T）。尚无运行时：计算当前设置的第一步。训练会等待其完成。</translation></message>
<message><source>one step</source><translation>一步</translation></message>
<message><source>time by type</source><translation>按类型的时间</translation></message>
<message><source>casts inserted</source><translation>插入的转换</translation></message>
<message><source>kept in FP32</source><translation>保留为 FP32</translation></message>
<message><source>arithmetic</source><translation>运算</translation></message>
<message><source>Filter: module, operation, type</source><translation>筛选：模块、算子、类型</translation></message>
<message><source>Filter</source><translation>筛选</translation></message>
<message><source>Writes precision.force into the settings</source><translation>将 precision.force 写入设置</translation></message>
<message><source>Operations</source><translation>算子</translation></message>
<message><source>%1 · %2 ops</source><translation>%1 · %2 个算子</translation></message>
<message><source>other</source><translation>其他</translation></message>
<message><source>%1 · %2</source><translation>%1 · %2</translation></message>
<message><source>%1 · %2 from the cache</source><translation>%1 · %2 次来自缓存</translation></message>
<message><source>%1 ops</source><translation>%1 个算子</translation></message>
<message><source>1 op</source><translation>1 个算子</translation></message>
<message><source>%1, by the FP32 list</source><translation>%1，依据 FP32 列表</translation></message>
<message><source>%1 GFLOP/s</source><translation>%1 GFLOP/s</translation></message>
<message><source>measured here: %1</source><translation>本机实测：%1</translation></message>
<message><source>Computing the step operation by operation…</source><translation>正在逐个算子计算…</translation></message>
<message><source>step %1 · %2 · %3</source><translation>第 %1 步 · %2 · %3</translation></message>
<message><source>Trace the first step of the settings: it works before training.</source><translation>追踪当前设置的第一步：无需先训练。</translation></message>
<message><source>%1 forced to %2</source><translation>%1 强制为 %2</translation></message>
<message><source>Find the smallest FP32 set…</source><translation>寻找最小 FP32 集合…</translation></message>
<message><source>Looks for the fewest operations that must stay in FP32 when all others run in FP16</source><translation>寻找其余算子都用 FP16 时必须保留为 FP32 的最少算子</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Save the displayed operations as CSV, or the timeline as PNG or SVG (Ctrl+E)</source><translation>将所示算子导出为 CSV，或将时间线导出为 PNG 或 SVG（Ctrl+E）</translation></message>
<message><source>The step as the run computes it</source><translation>运行实际计算的这一步</translation></message>
<message><source>The same step in the other precision: weights, batch and masks are those of the run</source><translation>以另一精度计算的同一步：权重、批次和掩码与运行相同</translation></message>
<message><source>Both, operation by operation</source><translation>逐个算子对照两种精度</translation></message>
<message><source>Operations in both precisions</source><translation>两种精度下的算子</translation></message>
<message><source>Computing the next step, operation by operation…</source><translation>正在逐个算子计算下一步…</translation></message>
<message><source>Trace the next step to see its operations (T).</source><translation>追踪下一步以查看其算子（T）。</translation></message>
<message><source>Trace a step of the run to see its operations (T).</source><translation>追踪该运行的一步以查看其算子（T）。</translation></message>
<message><source>Trace the next step</source><translation>追踪下一步</translation></message>
<message><source>Computes the next step on a copy, operation by operation (T). Training waits for it; the run does not change.</source><translation>在副本上逐个算子计算下一步（T）。训练会等待其完成；运行本身不受影响。</translation></message>
<message><source>Difference</source><translation>差异</translation></message>
<message><source>Displayed precision</source><translation>显示的精度</translation></message>
<message><source>Every operation of a step in order, grouped by module: its types, the rule that decided, its casts, time and memory.</source><translation>一步中的每个算子，按顺序并按模块分组：其类型、起作用的规则、转换、时间和内存。</translation></message>
<message><source>Menu of the row</source><translation>该行的菜单</translation></message>
</context>
    <context>
        <name>ui::OpView</name>
<message><source>all of %1</source><translation>%1 的全部算子</translation></message>
<message><source>Force %1 to %2 (already)</source><translation>将 %1 强制为 %2（已是）</translation></message>
<message><source>Force %1 to %2 and rerun</source><translation>将 %1 强制为 %2 并重新计算</translation></message>
<message><source>Show %1 in Microscope</source><translation>在“显微镜”中查看 %1</translation></message>
    </context>
    <context>
        <name>ui::ChainPlot</name>
<message><source>%1 layers; the largest value in FP32 is %2, in %3.</source><translation>%1 层；FP32 下的最大值为 %2，位于 %3。</translation></message>
<message><source>The largest values by layer, once a step is examined.</source><translation>检查某一步后，这里显示各层的最大值。</translation></message>
<message><source>Largest values by layer</source><translation>各层的最大值</translation></message>
<message><source>FP16 ends at 65,504</source><translation>FP16 上限 65,504</translation></message>
<message><source>(the model)</source><translation>（整个模型）</translation></message>
<message><source>%1: largest %2, in FP32 %3</source><translation>%1：最大 %2，FP32 中为 %3</translation></message>
<message><source>%1: largest %2, in FP32 %3; of its parameters&apos; gradients %4, in FP32 %5</source><translation>%1：最大 %2，FP32 中为 %3；其参数梯度最大 %4，FP32 中为 %5</translation></message>
<message><source>The largest value of each layer against the limit of FP16, once the step is examined.</source><translation>检查本步之后，这里显示各层的最大值与 FP16 上限的对比。</translation></message>
<message><source>The fault is before the first layer.</source><translation>问题出在第一层之前。</translation></message>
    </context>
    <context>
        <name>ui::SkipsPage</name>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Examine this step (about %1)</source><translation>检查这一步（约 %1）</translation></message>
<message><source>Examine this step</source><translation>检查本步</translation></message>
<message><source>Computes the step again from the newest checkpoint before it, with a check after every operation (R). Training waits for it; the run does not change.</source><translation>从该步之前最近的检查点重新计算，并在每个算子之后检查（R）。训练会等待其完成；运行本身不受影响。</translation></message>
<message><source>Save as capsule…</source><translation>保存为胶囊…</translation></message>
<message><source>One file with everything needed to compute the step again elsewhere: weights, optimizer, scaler, batch and settings (K)</source><translation>一个文件，包含在别处重新计算该步所需的一切：权重、优化器、缩放器、批次和设置（K）</translation></message>
<message><source>Skipped steps</source><translation>跳过的步</translation></message>
<message><source>First non-finite tensor</source><translation>第一个非有限张量</translation></message>
<message><source>Batch</source><translation>批次</translation></message>
<message><source>Samples, largest share first</source><translation>样本，按占比从大到小</translation></message>
<message><source>Examine it again</source><translation>再次检查</translation></message>
<message><source>Computing the step again…</source><translation>正在重新计算该步…</translation></message>
<message><source>computed again with a check after each of %1 operations, on %2</source><translation>已重新计算，在 %1 个算子之后逐一检查，设备 %2</translation></message>
<message><source>Save as capsule</source><translation>保存为胶囊</translation></message>
<message><source>Capsules (*.safetensors)</source><translation>胶囊 (*.safetensors)</translation></message>
<message><source>Arm</source><translation>布防</translation></message>
<message><source>Examines the next skip as it happens, from the state before its update. On a GPU this costs one synchronisation per step.</source><translation>下一次跳过发生时立即检查，使用更新之前的状态。在 GPU 上每步需要一次同步。</translation></message>
<message><source>%1 samples, largest share first</source><translation>%1 个样本，占比大者在前</translation></message>
<message><source>Save as capsule… %1</source><translation>保存为胶囊… %1</translation></message>
<message><source>armed: found_inf is read before the update, one synchronisation per step</source><translation>已布防：更新前读取 found_inf，每步一次同步</translation></message>
<message><source>not armed: the weights have changed since; arm to catch the next skip</source><translation>未布防：权重已改变；布防可捕捉下一次</translation></message>
<message><source>watching: a fault is examined before the next step</source><translation>监视中：出错的步在下一步之前检查</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Save the skipped steps as CSV, or the page as PNG or SVG (Ctrl+E)</source><translation>将跳过的步导出为 CSV，或将页面导出为 PNG 或 SVG（Ctrl+E）</translation></message>
<message><source>Exponents</source><translation>指数分布</translation></message>
<message><source>At another scale</source><translation>换一个缩放</translation></message>
<message><source>Skipped or not finite</source><translation>被跳过或非有限的步</translation></message>
</context>
    <context>
        <name>Lab</name>
<message><source>Numbers</source><translation>数字</translation></message>
<message><source>exact</source><translation>精确</translation></message>
<message><source>Lessons</source><translation>课程</translation></message>
</context>
    <context>
        <name>ui::LabPage</name>
<message><source>View of the Lab</source><translation>实验室的视图</translation></message>
    </context>
    <context>
        <name>ui::BitTable</name>
<message><source>Bits of the number in each format</source><translation>该数字在各格式中的位</translation></message>
<message><source>%1: %2, bit %3 is %4</source><translation>%1：%2，第 %3 位为 %4</translation></message>
<message><source>sign</source><translation>符号</translation></message>
<message><source>exponent: how large</source><translation>指数：大小</translation></message>
<message><source>fraction: how fine</source><translation>尾数：精细度</translation></message>
<message><source>right of the bar: dropped by rounding; a first bit of 1 rounds up</source><translation>竖线右侧：舍入时丢弃的位；首位为 1 则进位</translation></message>
<message><source>stored value</source><translation>存储值</translation></message>
<message><source>error</source><translation>误差</translation></message>
<message><source>next below</source><translation>下一较小值</translation></message>
<message><source>next above</source><translation>下一较大值</translation></message>
<message><source>gap</source><translation>间隔</translation></message>
<message><source>1 + %1 + %2 bits</source><translation>1 + %1 + %2 位</translation></message>
    </context>
    <context>
        <name>ui::NumberLine</name>
<message><source>Logarithmic number line</source><translation>对数数轴</translation></message>
<message><source>%1 rounds to zero</source><translation>%1 舍入为零</translation></message>
<message><source>subnormal</source><translation>次正规数</translation></message>
<message><source>%1 inf</source><translation>%1 为无穷</translation></message>
<message><source>%1 NaN</source><translation>%1 为 NaN</translation></message>
<message><source>to %1</source><translation>至 %1</translation></message>
<message><source>%1, then NaN</source><translation>%1，再大则为 NaN</translation></message>
<message><source>from %1</source><translation>自 %1</translation></message>
    </context>
    <context>
        <name>ui::NumberModel</name>
<message><source>NaN: not a number.</source><translation>NaN：不是数字。</translation></message>
<message><source>No format holds %1 exactly.</source><translation>没有格式能精确表示 %1。</translation></message>
<message><source>All six formats hold %1 exactly.</source><translation>六种格式都能精确表示 %1。</translation></message>
<message><source>Only %1 holds %2 exactly.</source><translation>只有 %1 能精确表示 %2。</translation></message>
<message><source>%1 and %2 hold %3 exactly.</source><translation>%1 和 %2 能精确表示 %3。</translation></message>
<message><source>, </source><translation>、</translation></message>
<message><source>Any result computed from it is NaN too.</source><translation>用它计算的任何结果也是 NaN。</translation></message>
<message><source>Beyond %1, %2 has only NaN.</source><translation>超过 %1 后，%2 只有 NaN。</translation></message>
<message><source>From %1 on, %2 rounds to infinity.</source><translation>从 %1 起，%2 舍入为无穷。</translation></message>
<message><source>It is at most half of %1's smallest number, so it rounds to 0.</source><translation>它不超过 %1 最小数的一半，因此舍入为 0。</translation></message>
<message><source>Subnormal in %1: fewer fraction bits remain.</source><translation>在 %1 中是次正规数：剩下的尾数位更少。</translation></message>
<message><source>It has infinitely many binary digits, or too many; each format rounds it.</source><translation>它的二进制位无穷无尽或过多；各格式都要舍入。</translation></message>
    </context>
    <context>
        <name>ui::NumbersView</name>
<message><source>Next larger value of the format (Ctrl+↑)</source><translation>该格式的下一较大值 (Ctrl+↑)</translation></message>
<message><source>Next smaller value of the format (Ctrl+↓)</source><translation>该格式的下一较小值 (Ctrl+↓)</translation></message>
<message><source>Number</source><translation>数字</translation></message>
<message><source>0.1, 2^-24, 3*2^-5, 1/3, inf, nan, or the bits of the selected format: 0x3c00</source><translation>0.1、2^-24、3*2^-5、1/3、inf、nan，或所选格式的位：0x3c00</translation></message>
<message><source>‹ %1 neighbour</source><translation>‹ %1 相邻值</translation></message>
<message><source>%1 neighbour ›</source><translation>%1 相邻值 ›</translation></message>
    </context>
    <context>
        <name>ui::NumbersTools</name>
<message><source>click a bit to flip it · drag the blue line · round to nearest, ties to even, with the engine's own conversions</source><translation>点击某一位即可翻转 · 拖动蓝线 · 用引擎自己的转换函数，就近舍入，平局取偶</translation></message>
<message><source>Copy as lesson block</source><translation>复制为课程代码块</translation></message>
<message><source>Puts the number and the sum into a block for a lesson file</source><translation>将数字与求和写成课程文件中的代码块</translation></message>
<message><source>Copied</source><translation>已复制</translation></message>
<message><source>Present</source><translation>演示</translation></message>
<message><source>Full screen, in larger type; PageDown and PageUp turn the parts (F5)</source><translation>全屏、大字号；用 PageDown 和 PageUp 翻页 (F5)</translation></message>
    </context>
    <context>
        <name>ui::CalculatorModel</name>
<message><source>n is a whole number from 0 to %1.</source><translation>n 是 0 到 %1 之间的整数。</translation></message>
    </context>
    <context>
        <name>ui::CalculatorTable</name>
<message><source>Results in each format</source><translation>各格式的结果</translation></message>
<message><source>%1 stored as</source><translation>%1 存储为</translation></message>
<message><source>same-type accumulator</source><translation>同类型累加器</translation></message>
<message><source>stalls after</source><translation>停滞于</translation></message>
<message><source>%1 accumulator</source><translation>%1 累加器</translation></message>
<message><source>a stored as</source><translation>a 存储为</translation></message>
<message><source>b stored as</source><translation>b 存储为</translation></message>
<message><source>error</source><translation>误差</translation></message>
<message><source>exact</source><translation>精确</translation></message>
<message><source>always %1</source><translation>总是 %1</translation></message>
<message><source>%1 terms</source><translation>%1 项</translation></message>
<message><source>no stall</source><translation>不停滞</translation></message>
    </context>
    <context>
        <name>ui::SumPlot</name>
<message><source>Running sum in each format</source><translation>各格式的累计和</translation></message>
<message><source>%1 terms</source><translation>%1 项</translation></message>
<message><source>at %1 half a gap is %2, larger than a term</source><translation>在 %1 处半个间隔为 %2，大于每一项</translation></message>
</context>
    <context>
        <name>ui::CalculatorCard</name>
<message><source>Calculator</source><translation>计算器</translation></message>
<message><source>Operation</source><translation>运算</translation></message>
<message><source>sum of n terms</source><translation>n 项求和</translation></message>
<message><source>Accumulator</source><translation>累加器</translation></message>
<message><source>Type of the accumulator in the last column</source><translation>最后一列所用累加器的类型</translation></message>
<message><source>in %1</source><translation>用 %1</translation></message>
<message><source>term</source><translation>项</translation></message>
<message><source>exact result: %1</source><translation>精确结果：%1</translation></message>
    </context>
    <context>
        <name>ui::GuessCards</name>
<message><source>65504 is the largest FP16 number.</source><translation>65504 是最大的 FP16 数。</translation></message>
<message><source>65504 + 15.99 is %1: from 65520 on, the sum rounds to infinity.</source><translation>65504 + 15.99 得 %1：从 65520 起，和舍入为无穷。</translation></message>
<message><source>2⁻²⁴ is the smallest FP16 number.</source><translation>2⁻²⁴ 是最小的 FP16 正数。</translation></message>
<message><source>Half the smallest FP16 number: a tie, and 0 is even.</source><translation>最小 FP16 正数的一半：恰好居中，而 0 是偶数。</translation></message>
<message><source>Which whole numbers come after 2048?</source><translation>2048 之后是哪些整数？</translation></message>
<message><source>From 2048 on the gap is 2: 2049 is a tie, and 2048 is even.</source><translation>从 2048 起间隔为 2：2049 恰好居中，而 2048 的末位为偶。</translation></message>
<message><source>Is it stored as 0.1, or a little below or above?</source><translation>存储的正好是 0.1，还是略小或略大？</translation></message>
<message><source>Click to show it. Which format lies closest?</source><translation>点击即可显示。哪种格式最接近？</translation></message>
<message><source>Try this</source><translation>试一试</translation></message>
<message><source>in FP16: guess, press Enter, then click</source><translation>在 FP16 中：先猜，按回车，再点击</translation></message>
<message><source>start again</source><translation>重新开始</translation></message>
    </context>
    <context>
        <name>ui::GuessCard</name>
<message><source>guess</source><translation>猜</translation></message>
<message><source>Guess of %1</source><translation>对 %1 的猜测</translation></message>
<message><source>As you guessed.</source><translation>猜对了。</translation></message>
<message><source>Your guess: %1.</source><translation>你的猜测：%1。</translation></message>
    </context>
    <context>
        <name>ui::NumbersPresent</name>
<message><source>Numbers</source><translation>数字</translation></message>
    </context>
<context>
    <name>ui::DifferenceTable</name>
<message><source>%1 (backward)</source><translation>%1（反向）</translation></message>
<message><source>module and operation</source><translation>模块与算子</translation></message>
<message><source>µs, %1</source><translation>µs，%1</translation></message>
<message><source>change</source><translation>变化</translation></message>
<message><source>output</source><translation>输出</translation></message>
</context>
<context>
    <name>ui::ExperimentStrip</name>
<message><source>%1, no change</source><translation>%1，无变化</translation></message>
<message><source>Undo</source><translation>撤销</translation></message>
<message><source>Keep for the run</source><translation>为该运行保留</translation></message>
<message><source>Open in Training</source><translation>在“训练”页打开</translation></message>
<message><source>loss</source><translation>损失</translation></message>
<message><source>step time</source><translation>步时间</translation></message>
<message><source>peak memory</source><translation>内存峰值</translation></message>
<message><source>Writes precision.force into the settings of the run: the next start uses it</source><translation>将 precision.force 写入该运行的设置：下次启动时生效</translation></message>
<message><source>%1 forced to %2</source><translation>%1 强制为 %2</translation></message>
<message><source>Kept: the next start uses it.</source><translation>已保留：下次启动时生效。</translation></message>
<message><source>error against FP32</source><translation>相对 FP32 的误差</translation></message>
</context>
<context>
    <name>PageExport</name>
<message><source>Table (*.md)</source><translation>表格 (*.md)</translation></message>
<message><source>Figures (*.csv)</source><translation>数据 (*.csv)</translation></message>
<message><source>Export this page</source><translation>导出本页</translation></message>
<message><source>Picture (*.png)</source><translation>图片 (*.png)</translation></message>
<message><source>Picture (*.svg)</source><translation>图片 (*.svg)</translation></message>
</context>
<context>
    <name>ui::SearchDialog</name>
<message><source>enough</source><translation>足够</translation></message>
<message><source>not enough</source><translation>不够</translation></message>
<message><source>Find the smallest FP32 set</source><translation>寻找最小 FP32 集合</translation></message>
<message><source>Starts with every operation in FP16 and looks for the fewest that must stay in FP32 for the gradients of one step to be accurate. Training goes on meanwhile, more slowly.</source><translation>从全部算子使用 FP16 开始，寻找使一步的梯度足够准确所必须保留为 FP32 的最少算子。期间训练继续进行，但会变慢。</translation></message>
<message><source>automatic</source><translation>自动</translation></message>
<message><source>Automatic: %1, or a quarter more than AMP FP16 has by itself</source><translation>自动：%1，或比 AMP FP16 本身的误差多四分之一</translation></message>
<message><source>AMP FP16 by itself has %1.</source><translation>AMP FP16 本身为 %1。</translation></message>
<message><source>Largest gradient error</source><translation>最大梯度误差</translation></message>
<message><source>Steps of the confirming training</source><translation>验证训练的步数</translation></message>
<message><source>Trials</source><translation>各次尝试</translation></message>
<message><source>trial</source><translation>尝试</translation></message>
<message><source>in FP32</source><translation>FP32 算子</translation></message>
<message><source>gradient error</source><translation>梯度误差</translation></message>
<message><source>outcome</source><translation>结果</translation></message>
<message><source>which</source><translation>哪些</translation></message>
<message><source>Search</source><translation>搜索</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Keep for the run</source><translation>为该运行保留</translation></message>
<message><source>Writes the set into precision.force of the run's settings, with AMP FP16: the next start uses it</source><translation>将该集合与 AMP FP16 一并写入该运行设置的 precision.force：下次启动时生效</translation></message>
<message><source>Open in Training</source><translation>在“训练”页打开</translation></message>
<message><source>Close</source><translation>关闭</translation></message>
<message><source>Stopping: the trial in progress ends first.</source><translation>正在停止：先完成当前尝试。</translation></message>
<message><source>Search again</source><translation>重新搜索</translation></message>
<message><source>Taking a copy of the step…</source><translation>正在复制该步…</translation></message>
<message><source>Confirming by a short training: step %1 of %2</source><translation>正在用短训练验证：第 %1 步，共 %2 步</translation></message>
<message><source>Trial %1: %2 operations in FP32, gradient error %3, %4</source><translation>第 %1 次尝试：%2 个算子为 FP32，梯度误差 %3，%4</translation></message>
<message><source>Computing step %1 in FP32</source><translation>正在以 FP32 计算第 %1 步</translation></message>
<message><source>None of the %1 operations needs FP32.</source><translation>%1 个算子中没有一个需要 FP32。</translation></message>
<message><source>Keep %1 of %2 operations in FP32: %3</source><translation>%2 个算子中有 %1 个须保留为 FP32：%3</translation></message>
<message><source>Step %1: the gradient error is %2, within %3, found in %4 trials.</source><translation>第 %1 步：梯度误差为 %2，不超过 %3，共尝试 %4 次。</translation></message>
<message><source>Without any one of them it is above.</source><translation>缺少其中任何一个都会超出。</translation></message>
<message><source>Trained for %1 steps: loss %2, in FP32 %3; %4 skipped.</source><translation>训练 %1 步：损失 %2，FP32 下为 %3；跳过 %4 步。</translation></message>
<message><source>no</source><translation>不验证</translation></message>
<message><source>%1 steps</source><translation>%1 步</translation></message>
<message><source>Trains this many steps with the set and as many in FP32, from the start</source><translation>从头用该集合训练这么多步，再用 FP32 训练同样多步</translation></message>
<message><source>Confirm by training</source><translation>用训练验证</translation></message>
</context>
<context>
    <name>ui::TotalsStrip</name>
<message><source>computed again: up to %1; traced: %2</source><translation>重算：至多 %1；追踪：%2</translation></message>
<message><source>traced: %1</source><translation>追踪：%1</translation></message>
<message><source>other</source><translation>其他</translation></message>
<message><source>fastest step</source><translation>最快一步</translation></message>
<message><source>time by type</source><translation>按类型的时间</translation></message>
<message><source>casts inserted</source><translation>插入的转换</translation></message>
<message><source>kept in FP32</source><translation>保留为 FP32</translation></message>
<message><source>arithmetic</source><translation>运算</translation></message>
<message><source>%1 · %2 ops</source><translation>%1 · %2 个算子</translation></message>
<message><source>%1 · %2</source><translation>%1 · %2</translation></message>
<message><source>%1 · %2 from the cache</source><translation>%1 · %2 次来自缓存</translation></message>
<message><source>%1 ops</source><translation>%1 个算子</translation></message>
<message><source>1 op</source><translation>1 个算子</translation></message>
<message><source>%1, by the FP32 list</source><translation>%1，依据 FP32 列表</translation></message>
<message><source>%1 GFLOP/s</source><translation>%1 GFLOP/s</translation></message>
<message><source>%1 alone: %2</source><translation>仅 %1：%2</translation></message>
<message><source>untraced, %1× as fast</source><translation>不追踪，速度为 %1 倍</translation></message>
<message><source>peak %1</source><translation>峰值 %1</translation></message>
<message><source>measured here: %1 GFLOP/s</source><translation>本机实测：%1 GFLOP/s</translation></message>
</context>
<context>
    <name>ui::WhatIfCurves</name>
<message><source>What if the scaler were…</source><translation>如果换一种缩放策略…</translation></message>
<message><source>As recorded</source><translation>按记录</translation></message>
<message><source>Growth interval</source><translation>增长间隔</translation></message>
<message><source>the policy&apos;s own</source><translation>策略自带</translation></message>
<message><source>%1 steps</source><translation>%1 步</translation></message>
<message><source>Initial scale</source><translation>初始缩放值</translation></message>
</context>
<context>
    <name>ui::SampleGrid</name>
<message><source>sample %1 · %2 of the batch's magnitude · largest %3</source><translation>样本 %1 · 占整批幅度的 %2 · 最大值 %3</translation></message>
<message><source>sample %1 · %2 bad values</source><translation>样本 %1 · %2 个异常值</translation></message>
<message><source>sample %1 · %2 bad values · %3 of the batch's magnitude</source><translation>样本 %1 · %2 个异常值 · 占整批幅度的 %3</translation></message>
<message><source>Samples, largest share first</source><translation>样本，按占比从大到小</translation></message>
<message><source>Also in the skips at %1. Check its label.</source><translation>也出现在这些跳过步中：%1。请检查其标签。</translation></message>
<message><source>What each sample contributes to that tensor, once the step is examined.</source><translation>检查本步之后，这里显示各样本对该张量的贡献。</translation></message>
</context>
<context>
    <name>ui::ExponentBars</name>
<message><source>%1 values, %2 of them not finite.</source><translation>%1 个值，其中 %2 个非有限。</translation></message>
<message><source>Exponents of the first non-finite tensor</source><translation>首个非有限张量的指数分布</translation></message>
<message><source>The fault is no output of an operation.</source><translation>故障不是某个操作的输出。</translation></message>
<message><source>filled: as it was</source><translation>填充：原样</translation></message>
<message><source>filled: at %1</source><translation>填充：缩放 %1</translation></message>
<message><source>line: in FP32</source><translation>线：FP32</translation></message>
<message><source>line: at %1</source><translation>线：缩放 %1</translation></message>
<message><source>%1 inf, %2 NaN</source><translation>%1 个 inf，%2 个 NaN</translation></message>
<message><source>Exponents of the first non-finite tensor, once the step is examined.</source><translation>检查本步之后，这里显示第一个非有限张量的指数分布。</translation></message>
</context>
<context>
    <name>LessonNotes</name>
<message><source>bad input</source><translation>输入有误</translation></message>
<message><source>damaged state</source><translation>状态已损坏</translation></message>
<message><source>scale too large</source><translation>缩放因子过大</translation></message>
<message><source>none</source><translation>无</translation></message>
<message><source>a curve</source><translation>一条曲线</translation></message>
<message><source>never</source><translation>从未发生</translation></message>
<message><source>see the plot</source><translation>见图</translation></message>
</context>
<context>
    <name>Worksheet</name>
<message><source>%1 to %2</source><translation>%1 到 %2</translation></message>
<message><source>I said</source><translation>我的预测</translation></message>
<message><source>measured</source><translation>实测</translation></message>
<message><source>%1 over the steps %2 to %3, from %4 to %5</source><translation>第 %2 到 %3 步的%1，从 %4 到 %5</translation></message>
<message><source>Name: ____________________     Date: ______________</source><translation>姓名：____________________     日期：______________</translation></message>
<message><source>Why?</source><translation>为什么？</translation></message>
</context>
<context>
    <name>ui::BitsInstrument</name>
<message><source>%1 in %2</source><translation>%2 中的 %1</translation></message>
<message><source>stored as</source><translation>存储为</translation></message>
<message><source>error</source><translation>误差</translation></message>
<message><source>next above</source><translation>上一个可表示的数</translation></message>
<message><source>next below</source><translation>下一个可表示的数</translation></message>
</context>
<context>
    <name>ui::CheckTable</name>
<message><source>you said</source><translation>你的预测</translation></message>
<message><source>measured</source><translation>实测</translation></message>
<message><source>as you said</source><translation>与预测一致</translation></message>
<message><source>Show me where</source><translation>在图上指出</translation></message>
</context>
<context>
    <name>ui::CurveSketch</name>
<message><source>step</source><translation>步</translation></message>
<message><source>Draw the curve with the mouse or the arrow keys.</source><translation>用鼠标或方向键画出曲线。</translation></message>
</context>
<context>
    <name>ui::HistogramInstrument</name>
<message><source>Exponents of the gradients</source><translation>梯度的指数分布</translation></message>
<message><source>Exponents of the activations</source><translation>激活值的指数分布</translation></message>
<message><source>Exponents of the weights</source><translation>权重的指数分布</translation></message>
<message><source>Exponents of the updates</source><translation>更新量的指数分布</translation></message>
<message><source>Exponents</source><translation>指数分布</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
</context>
<context>
    <name>ui::LessonColumn</name>
<message><source>No lesson is open.</source><translation>没有打开课程。</translation></message>
<message><source>about %1 min</source><translation>约 %1 分钟</translation></message>
<message><source>An experiment is training. It would share the processor with the lesson.</source><translation>有实验正在训练，会与本课争用处理器。</translation></message>
<message><source>Pause it and run</source><translation>暂停它并运行</translation></message>
<message><source>Line %1: %2</source><translation>第 %1 行：%2</translation></message>
<message><source>opens with the answers</source><translation>核对答案后展开</translation></message>
<message><source>opens when the run ends, at step %1</source><translation>运行在第 %1 步结束后展开</translation></message>
<message><source>opens when the run ends</source><translation>运行结束后展开</translation></message>
<message><source>locked when the run started</source><translation>运行开始后锁定</translation></message>
<message><source>unlocks Run</source><translation>回答后才能运行</translation></message>
<message><source>trained now, on this computer</source><translation>此刻在本机训练</translation></message>
<message><source>trained side by side, on this computer</source><translation>在本机并行训练</translation></message>
</context>
<context>
    <name>ui::LessonList</name>
<message><source>Lessons</source><translation>课程</translation></message>
<message><source>Open lesson…</source><translation>打开课程…</translation></message>
<message><source>or drop a file</source><translation>或把文件拖到这里</translation></message>
<message><source>about %1 min</source><translation>约 %1 分钟</translation></message>
<message><source>%1 of %2</source><translation>%1 / %2</translation></message>
</context>
<context>
    <name>ui::LessonModel</name>
<message><source>%1 runs of the lesson are in the history.</source><translation>本课的 %1 个实验已存入历史。</translation></message>
<message><source>They are under Runs.</source><translation>可在“运行”页查看。</translation></message>
<message><source>%1 steps too early</source><translation>早了 %1 步</translation></message>
<message><source>%1 steps too late</source><translation>晚了 %1 步</translation></message>
<message><source>%1 too low</source><translation>低了 %1</translation></message>
<message><source>%1 too high</source><translation>高了 %1</translation></message>
<message><source>The lesson's file has errors.</source><translation>课程文件有错误。</translation></message>
<message><source>Predict first: answer the questions of the lesson.</source><translation>请先预测：回答本课的问题。</translation></message>
<message><source>decided at step %1</source><translation>到第 %1 步见分晓</translation></message>
<message><source>it did not happen</source><translation>没有发生</translation></message>
<message><source>not as you said</source><translation>与预测不符</translation></message>
</context>
<context>
    <name>ui::LessonPlots</name>
<message><source>loss</source><translation>损失</translation></message>
<message><source>accuracy</source><translation>准确率</translation></message>
<message><source>loss scale</source><translation>损失缩放因子</translation></message>
<message><source>gradient norm</source><translation>梯度范数</translation></message>
<message><source>largest gradient</source><translation>最大梯度</translation></message>
<message><source>gradients that are 0</source><translation>为 0 的梯度</translation></message>
<message><source>updates lost, share of all</source><translation>丢失的更新占比</translation></message>
<message><source>FP16 gradients that became 0</source><translation>变成 0 的 FP16 梯度</translation></message>
<message><source>FP16 gradients that are subnormal</source><translation>次正规的 FP16 梯度</translation></message>
<message><source>FP16 gradients that overflowed</source><translation>溢出的 FP16 梯度</translation></message>
<message><source>skipped steps</source><translation>跳过的步</translation></message>
<message><source>steps since the scale changed</source><translation>缩放因子变化后的步数</translation></message>
<message><source>learning rate</source><translation>学习率</translation></message>
<message><source>updates applied</source><translation>已应用的更新</translation></message>
<message><source>step time (ms)</source><translation>单步时间（毫秒）</translation></message>
<message><source>samples/s</source><translation>样本/秒</translation></message>
<message><source>peak memory</source><translation>内存峰值</translation></message>
<message><source>memory</source><translation>内存</translation></message>
<message><source>, logarithmic</source><translation>（对数）</translation></message>
<message><source>Run the lesson.</source><translation>请运行本课。</translation></message>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
<message><source>you</source><translation>你</translation></message>
<message><source>you: %1</source><translation>你：%1</translation></message>
<message><source>measured: %1</source><translation>实测：%1</translation></message>
</context>
<context>
    <name>ui::LessonRuns</name>
<message><source>This lesson trains nothing.</source><translation>本课没有要训练的实验。</translation></message>
<message><source>The answers are below.</source><translation>答案在下方。</translation></message>
<message><source>The lesson's runs are in progress.</source><translation>本课的实验正在运行。</translation></message>
<message><source>The lesson's runs start together.</source><translation>本课的实验一起开始。</translation></message>
<message><source>Nothing is running.</source><translation>当前没有训练。</translation></message>
<message><source>Pause first, then go step by step.</source><translation>先暂停，再单步执行。</translation></message>
<message><source>Leave the Lab first.</source><translation>请先离开实验室。</translation></message>
<message><source>Check answers</source><translation>核对答案</translation></message>
<message><source>Run again</source><translation>重新运行</translation></message>
<message><source>Run lesson</source><translation>运行本课</translation></message>
<message><source>&lt;b&gt;Lesson&lt;/b&gt; %1</source><translation>&lt;b&gt;课程&lt;/b&gt; %1</translation></message>
<message><source>paused at step %1</source><translation>已在第 %1 步暂停</translation></message>
<message><source>step %1 of %2</source><translation>第 %1 / %2 步</translation></message>
<message><source>paced at %1 steps/s</source><translation>限速 %1 步/秒</translation></message>
<message><source>ended at step %1; the runs are discarded unless kept</source><translation>在第 %1 步结束；不保留的实验将被丢弃</translation></message>
</context>
<context>
    <name>ui::LessonShelf</name>
<message><source>Opened</source><translation>已打开</translation></message>
</context>
<context>
    <name>ui::LessonView</name>
<message><source>No program is set up to open %1.</source><translation>没有可以打开 %1 的程序。</translation></message>
<message><source>Open it in any text editor. Once it is saved, the Lab offers to reload it.</source><translation>请用任意文本编辑器打开。保存后，实验室会提示重新载入。</translation></message>
<message><source>Edit</source><translation>编辑</translation></message>
<message><source>The file was changed.</source><translation>文件已更改。</translation></message>
<message><source>Reload</source><translation>重新载入</translation></message>
<message><source>Reads the lesson again; your answers stay</source><translation>重新读取课程；你的回答会保留</translation></message>
<message><source>Keep</source><translation>保留</translation></message>
<message><source>Puts the lesson's runs into the history; otherwise they are discarded</source><translation>把本课的实验存入历史，否则将被丢弃</translation></message>
<message><source>Worksheet…</source><translation>练习单…</translation></message>
<message><source>The lesson as a PDF with blanks to fill in (Ctrl+P)</source><translation>把本课导出为带填空的 PDF（Ctrl+P）</translation></message>
<message><source>Reset</source><translation>重置</translation></message>
<message><source>Clears your answers in this lesson, and its runs</source><translation>清除你在本课的回答和实验</translation></message>
<message><source>Open in Training</source><translation>在“训练”中打开</translation></message>
<message><source>The settings of the selected run, to train and change there</source><translation>把所选实验的设置带到“训练”页，可在那里修改并训练</translation></message>
<message><source>Present</source><translation>演示</translation></message>
<message><source>One step at a time in large type, for a projector (F5)</source><translation>大字号逐步显示，适合投影（F5）</translation></message>
<message><source>Included with Halftone</source><translation>Halftone 自带</translation></message>
<message><source>Open a lesson</source><translation>打开课程</translation></message>
<message><source>Lessons (*.lesson.md *.zip);;All files (*)</source><translation>课程 (*.lesson.md *.zip);;所有文件 (*)</translation></message>
<message><source>Save a copy to edit</source><translation>另存副本以便编辑</translation></message>
<message><source>Lessons (*.lesson.md)</source><translation>课程 (*.lesson.md)</translation></message>
<message><source>Save worksheet</source><translation>保存练习单</translation></message>
<message><source>PDF (*.pdf)</source><translation>PDF (*.pdf)</translation></message>
<message><source>Answers</source><translation>答案</translation></message>
<message><source>Hands in your answers, or collects those of a class</source><translation>提交您的答案，或收集班级的答案</translation></message>
<message><source>Hand in…</source><translation>提交…</translation></message>
<message><source>Collect from a folder…</source><translation>从文件夹收集…</translation></message>
<message><source>Folder of the class</source><translation>班级的文件夹</translation></message>
<message><source>Next step</source><translation>下一步骤</translation></message>
<message><source>Previous step</source><translation>上一步骤</translation></message>
</context>
<context>
    <name>ui::PresentWindow</name>
<message><source>Leave (Esc)</source><translation>退出 (Esc)</translation></message>
<message><source>Back</source><translation>返回</translation></message>
<message><source>%1 · step %2 of %3</source><translation>%1 · 第 %2 / %3 步</translation></message>
<message><source>Run (Page Down)</source><translation>运行 (Page Down)</translation></message>
<message><source>Next (Page Down)</source><translation>下一步 (Page Down)</translation></message>
</context>
<context>
    <name>ui::QuestionForm</name>
<message><source>Hands for: %1</source><translation>举手人数：%1</translation></message>
<message><source>How many hands were shown for this answer</source><translation>选择此答案的举手人数</translation></message>
</context>
<context>
    <name>ui::RangeSlider</name>
<message><source>no answer yet</source><translation>尚未回答</translation></message>
<message><source>drag, or use the arrow keys</source><translation>拖动，或使用方向键</translation></message>
</context>
<context>
    <name>ui::SkipInstrument</name>
<message><source>Why was this step skipped?</source><translation>这一步为什么被跳过？</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
<message><source>No step was skipped so far.</source><translation>到目前为止没有跳过任何一步。</translation></message>
<message><source>Step %1 is being examined…</source><translation>正在检查第 %1 步…</translation></message>
<message><source>Step %1 was skipped.</source><translation>第 %1 步被跳过。</translation></message>
<message><source>Step %1 was not finite.</source><translation>第 %1 步出现非有限值。</translation></message>
<message><source>It is examined when the runs pause or end.</source><translation>暂停或运行结束后进行检查。</translation></message>
<message><source>First non-finite tensor: %1, %2; %3 infinite and %4 NaN of %5 values.</source><translation>第一个含非有限值的张量：%1，%2；%5 个值中有 %3 个无穷大、%4 个 NaN。</translation></message>
<message><source>It would have passed at scale %1.</source><translation>损失缩放因子为 %1 时这一步可以通过。</translation></message>
</context>
<context>
    <name>ui::SumInstrument</name>
<message><source>%1 × %2 in %3</source><translation>%3 中 %1 个 %2 相加</translation></message>
<message><source>%1, accumulated in %2</source><translation>%1，用 %2 累加</translation></message>
<message><source>sum %1</source><translation>和 %1</translation></message>
<message><source>exact %1</source><translation>精确值 %1</translation></message>
<message><source>From term %1 on the sum no longer changes.</source><translation>从第 %1 项起，和不再变化。</translation></message>
<message><source>Each term changes the sum.</source><translation>每一项都改变了和。</translation></message>
</context>
<context>
    <name>ui::WeightInstrument</name>
<message><source>One weight, magnified</source><translation>放大一个权重</translation></message>
<message><source>step %1</source><translation>第 %1 步</translation></message>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
<message><source>&lt;b&gt;%1 updates in a row lost.&lt;/b&gt; Added up they would have moved the weight by %2.</source><translation>&lt;b&gt;连续 %1 次更新丢失。&lt;/b&gt;累加起来本应让权重移动 %2。</translation></message>
</context>
<context>
    <name>ui::WeightLens</name>
<message><source>%1: the step was skipped</source><translation>%1：这一步被跳过</translation></message>
<message><source>%1: no change</source><translation>%1：没有变化</translation></message>
<message><source>%1: the change is rounded away</source><translation>%1：更新被舍入掉了</translation></message>
<message><source>%1: the change is kept, rounded</source><translation>%1：更新经舍入后保留</translation></message>
<message><source>%1: the change is kept</source><translation>%1：更新得以保留</translation></message>
<message><source>every value in this range is stored as %1</source><translation>这一段内的值都存储为 %1</translation></message>
<message><source>the change is %1 of a gap · gap %2</source><translation>更新为间隔的 %1 倍 · 间隔 %2</translation></message>
<message><source>FP32 master now %1</source><translation>FP32 主权重现为 %1</translation></message>
</context>
<context>
    <name>ui::XrayInstrument</name>
<message><source>What runs where</source><translation>哪个算子用什么类型</translation></message>
<message><source>first step, forward</source><translation>第一步，前向</translation></message>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
<message><source>reads</source><translation>输入</translation></message>
<message><source>computes in</source><translation>计算</translation></message>
<message><source>writes</source><translation>输出</translation></message>
<message><source>and %1 more</source><translation>另有 %1 个</translation></message>
</context>
    <context>
        <name>SkipWords</name>
<message><source>not examined yet</source><translation>尚未检查</translation></message>
<message><source>%1: passes, loss %2, gradient norm %3</source><translation>%1：通过，损失 %2，梯度范数 %3</translation></message>
<message><source>%1: not finite</source><translation>%1：非有限值</translation></message>
<message><source>one number</source><translation>单个数</translation></message>
<message><source>%1 inf</source><translation>%1 个 inf</translation></message>
<message><source>%1 NaN</source><translation>%1 个 NaN</translation></message>
<message><source>the loss is not finite</source><translation>损失不是有限数</translation></message>
<message><source>gradients not finite, applied</source><translation>梯度非有限，已应用</translation></message>
<message><source>loss not finite, applied</source><translation>损失非有限，已应用</translation></message>
    </context>
    <context>
        <name>ui::SkipListView</name>
<message><source>Skipped steps</source><translation>跳过的步</translation></message>
<message><source>Start a run, or open one with skipped steps.</source><translation>开始一次运行，或打开一个有跳过步的运行。</translation></message>
<message><source>No skipped steps in %1.</source><translation>%1 步中没有跳过。</translation></message>
<message><source>%1 of %2 steps, %3; %4 clean steps since the last.</source><translation>%2 步中的 %1 步，%3；此后已有 %4 个正常步。</translation></message>
<message><source>Sample %1 is a suspect in %2 of them.</source><translation>样本 %1 是其中 %2 次的嫌疑样本。</translation></message>
<message><source>to step %1, %2 in a row</source><translation>至第 %1 步，连续 %2 步</translation></message>
    </context>
    <context>
        <name>ui::TensorFacts</name>
<message><source>Its name, shape and inputs, once the step is examined.</source><translation>检查这一步之后显示其名称、形状和输入。</translation></message>
<message><source>All tensors of this step are finite.</source><translation>这一步的张量均为有限值。</translation></message>
<message><source>tensor</source><translation>张量</translation></message>
<message><source>outside modules</source><translation>模块之外</translation></message>
<message><source>name</source><translation>名称</translation></message>
<message><source>made by</source><translation>来自</translation></message>
<message><source>%1, operation %2 of %3</source><translation>%1，第 %2 / %3 个算子</translation></message>
<message><source>stage</source><translation>阶段</translation></message>
<message><source>type</source><translation>类型</translation></message>
<message><source>shape</source><translation>形状</translation></message>
<message><source>bad</source><translation>异常</translation></message>
<message><source>%1 inf, %2 NaN of %3</source><translation>%3 个中 %1 个 inf、%2 个 NaN</translation></message>
<message><source>first</source><translation>第一个</translation></message>
<message><source>in FP32</source><translation>FP32</translation></message>
<message><source>input %1</source><translation>输入 %1</translation></message>
<message><source>%1, %2, largest %3</source><translation>%1，%2，最大 %3</translation></message>
    </context>
    <context>
        <name>ui::SkipVerdict</name>
<message><source>Step %1. %2</source><translation>第 %1 步。%2</translation></message>
<message><source>in FP32</source><translation>FP32</translation></message>
<message><source>as computed again</source><translation>重新计算</translation></message>
<message><source>At another scale</source><translation>换一个缩放</translation></message>
<message><source>At half the scale</source><translation>缩放减半</translation></message>
<message><source>In FP32</source><translation>以 FP32 计算</translation></message>
<message><source>Without this sample</source><translation>去掉所选样本</translation></message>
<message><source>Step %1 was skipped at %2.</source><translation>第 %1 步在缩放 %2 下被跳过。</translation></message>
<message><source>Step %1 was not finite.</source><translation>第 %1 步为非有限值。</translation></message>
<message><source>Examine it to see which tensor broke first, and why.</source><translation>检查它以了解哪个张量最先出错及其原因。</translation></message>
<message><source>No skipped step</source><translation>没有跳过的步</translation></message>
<message><source>Forward pass</source><translation>前向传播</translation></message>
<message><source>Backward pass</source><translation>反向传播</translation></message>
<message><source>largest output of each layer, in execution order</source><translation>各层的最大输出，按执行顺序</translation></message>
<message><source>largest gradient of each layer × %1, in execution order</source><translation>各层的最大梯度 × %1，按执行顺序</translation></message>
<message><source>Exponents</source><translation>指数分布</translation></message>
<message><source>gradient, before and after</source><translation>梯度，变更前后</translation></message>
<message><source>before and after</source><translation>变更前后</translation></message>
<message><source>judging by the FP32 gradients, any scale up to %1 passes</source><translation>依据 FP32 梯度，不超过 %1 的缩放均可通过</translation></message>
<message><source>Examine the step to see which scales pass.</source><translation>检查本步以了解哪些缩放可以通过。</translation></message>
<message><source>Step %1: checking op %2 of %3</source><translation>第 %1 步：正在检查第 %2 个操作，共 %3 个</translation></message>
<message><source>Step %1: checking op %2</source><translation>第 %1 步：正在检查第 %2 个操作</translation></message>
<message><source>Displayed values</source><translation>显示的数值</translation></message>
<message><source>The loss scale last grew %1 steps ago, to %2.</source><translation>损失缩放上次增大是在 %1 步之前，增至 %2。</translation></message>
<message><source>The loss scale has not grown yet.</source><translation>损失缩放尚未增大过。</translation></message>
    </context>
    <context>
        <name>ui::SideColumns</name>
<message><source>Panels</source><translation>面板</translation></message>
    </context>
    <context>
        <name>ui::SettingsRail</name>
<message><source>Show the settings</source><translation>显示设置</translation></message>
    </context>
    <context>
        <name>BitCheckWords</name>
<message><source>the loss</source><translation>损失</translation></message>
<message><source>the gradient of %1</source><translation>%1 的梯度</translation></message>
<message><source>the model</source><translation>模型</translation></message>
<message><source>the gradient norm or the loss scale</source><translation>梯度范数或损失缩放因子</translation></message>
<message><source>No step was computed.</source><translation>没有算出任何一步。</translation></message>
    </context>
    <context>
        <name>ui::TwinBadge</name>
<message><source>the gradient of %1</source><translation>%1 的梯度</translation></message>
<message><source>Click to train %1 beside %1 for up to %2 steps and compare all bits. Training waits for it; nothing is saved.</source><translation>点击后，%1 与 %1 并排训练至多 %2 步并逐位比较。期间训练会等待；结果不保留。</translation></message>
<message><source>%1 beside %1: not checked</source><translation>%1 对 %1：未能检查</translation></message>
<message><source>✓ %1 beside %1: bit-identical, %2 steps</source><translation>✓ %1 对 %1：逐位一致，%2 步</translation></message>
<message><source>✗ %1 beside %1: %2 differs in step %3</source><translation>✗ %1 对 %1：%2在第 %3 步不同</translation></message>
<message><source>The same settings gave different bits, so part of what this page shows is nondeterminism of the computation.</source><translation>相同的设置得到了不同的位，因此本页所示的差异有一部分是计算本身的噪声。</translation></message>
<message><source>checking step %1 of %2</source><translation>正在检查第 %1 步，共 %2 步</translation></message>
<message><source>Click to end the check.</source><translation>点击可结束检查。</translation></message>
<message><source>No check</source><translation>不能检查</translation></message>
<message><source>Some settings are invalid.</source><translation>有些设置不被接受。</translation></message>
<message><source>Check %1 beside %1</source><translation>检查 %1 对 %1</translation></message>
<message><source>Trains %1 beside %1 for up to %2 steps and compares all bits. Only if they are equal is the difference that a twin shows due to rounding. Training waits for it; nothing is saved.</source><translation>%1 与 %1 并排训练至多 %2 步并逐位比较：只有两者逐位一致，孪生所示的差异才是舍入误差。期间训练会等待；结果不保留。</translation></message>
    </context>
<context>
    <name>ui::InstrumentPanel</name>
<message><source>Predict, then run.</source><translation>先预测，再运行。</translation></message>
</context>
<context>
    <name>ui::KnobBar</name>
<message><source>as in the lesson</source><translation>与课程相同</translation></message>
</context>
<context>
    <name>Handbook</name>
<message><source>Handbook</source><translation>手册</translation></message>
</context>
<context>
    <name>SpeedupWords</name>
<message><source>none</source><translation>无</translation></message>
<message><source>Step</source><translation>一步</translation></message>
<message><source>products, convolutions</source><translation>矩阵乘法、卷积</translation></message>
<message><source>operations that move data</source><translation>访存型运算</translation></message>
<message><source>short operations</source><translation>短小运算</translation></message>
<message><source>casts</source><translation>类型转换</translation></message>
<message><source>gradient check, optimizer</source><translation>梯度检查、优化器</translation></message>
<message><source>Short operations</source><translation>短小运算的个数</translation></message>
<message><source>Moved by casts</source><translation>类型转换搬运的数据</translation></message>
<message><source>Peak memory</source><translation>峰值内存</translation></message>
<message><source>Largest batch in %1</source><translation>%1 内的最大批量</translation></message>
<message><source>%1 GFLOP/s in %2</source><translation>%2 为 %1 GFLOP/s</translation></message>
<message><source>%1 · %2 · batch %3</source><translation>%1 · %2 · 批量 %3</translation></message>
<message><source>%1, batch %2</source><translation>%1，批量 %2</translation></message>
<message><source>Speed-up %1; %2 to %3 in single pairs of blocks.</source><translation>加速 %1；逐对分块为 %2 到 %3。</translation></message>
<message><source>A large product reaches %1.</source><translation>大矩阵乘法：%1。</translation></message>
</context>
<context>
    <name>BenchmarkTable</name>
<message><source>%1, FP32 %2</source><translation>%1，FP32 为 %2</translation></message>
<message><source>%1 in %2</source><translation>%1（%2 内）</translation></message>
<message><source>Model</source><translation>模型</translation></message>
<message><source>Precision</source><translation>精度</translation></message>
<message><source>Step</source><translation>一步</translation></message>
<message><source>Speed-up</source><translation>加速</translation></message>
<message><source>Peak memory</source><translation>峰值内存</translation></message>
<message><source>Largest batch</source><translation>最大批量</translation></message>
<message><source>Why</source><translation>原因</translation></message>
<message><source>Measured on %1.</source><translation>测量设备：%1。</translation></message>
</context>
<context>
    <name>ui::Benchmarks</name>
<message><source>%1: %2</source><translation>%1：%2</translation></message>
<message><source>A run is training, and each would slow the other: pause or stop it first.</source><translation>正在训练，两者会互相拖慢：请先暂停或停止训练。</translation></message>
<message><source>Choose a model on the left.</source><translation>请在左侧选择模型。</translation></message>
<message><source>Choose a precision on the left.</source><translation>请在左侧选择精度。</translation></message>
<message><source>%1 is not a size: use one such as 500 MB, 2 GB or 1.5 GiB.</source><translation>%1 不是有效大小：请用如 500 MB、2 GB 或 1.5 GiB 的写法。</translation></message>
<message><source>Stopped: a run began to train, and each would slow the other.</source><translation>已停止：有训练开始，两者会互相拖慢。</translation></message>
<message><source>Stopped.</source><translation>已停止。</translation></message>
<message><source>%1 of %2 models measured in %3.</source><translation>已测量 %1 个模型（共 %2 个），用时 %3。</translation></message>
</context>
<context>
    <name>ui::BenchmarkChoice</name>
<message><source>Models</source><translation>模型</translation></message>
<message><source>all</source><translation>全选</translation></message>
<message><source>Choose all models</source><translation>选择所有模型</translation></message>
<message><source>none</source><translation>清空</translation></message>
<message><source>Choose no model</source><translation>不选任何模型</translation></message>
<message><source>Beside FP32, in turns</source><translation>与 FP32 轮流测量</translation></message>
<message><source>Largest batch within</source><translation>最大批量，内存上限</translation></message>
<message><source>Tries one batch size after another with real steps. This takes longer than measuring the speed.</source><translation>用真实的训练步依次尝试各种批量，比测速度更费时。</translation></message>
<message><source>Memory limit of the largest batch</source><translation>最大批量的内存上限</translation></message>
<message><source>Settings of runs</source><translation>来自训练的设置</translation></message>
<message><source>%1 chosen</source><translation>已选 %1 个</translation></message>
</context>
<context>
    <name>ui::BenchmarkView</name>
<message><source>%1, measured %2</source><translation>%1，测于 %2</translation></message>
<message><source>figures</source><translation>数据</translation></message>
<message><source>Figures of %1</source><translation>%1 的数据</translation></message>
</context>
<context>
    <name>ui::PairBars</name>
<message><source>%1 against FP32: a step takes %2 instead of %3, peak memory is %4 instead of %5, the largest batch %6 instead of %7.</source><translation>%1 对比 FP32：一步用时 %2，原为 %3；峰值内存 %4，原为 %5；最大批量 %6，原为 %7。</translation></message>
</context>
<context>
    <name>ui::BarHeads</name>
<message><source>Speed, and time of a step</source><translation>速度及一步用时</translation></message>
<message><source>Peak memory</source><translation>峰值内存</translation></message>
<message><source>Largest batch in %1</source><translation>%1 内的最大批量</translation></message>
<message><source>Largest batch</source><translation>最大批量</translation></message>
<message><source>longer is faster</source><translation>越长越快</translation></message>
<message><source>shorter is better</source><translation>越短越好</translation></message>
<message><source>longer is better</source><translation>越长越好</translation></message>
</context>
<context>
    <name>ui::BenchmarksPage</name>
<message><source>Run</source><translation>开始测量</translation></message>
<message><source>Stop</source><translation>停止</translation></message>
<message><source>Stops after the block in progress; the results so far are kept (B)</source><translation>当前分块结束后停止；已测得的结果会保留（B）</translation></message>
<message><source>Progress of the measurement</source><translation>测量进度</translation></message>
<message><source>Export…</source><translation>导出…</translation></message>
<message><source>Save the figures as CSV or Markdown, or the bars as PNG or SVG (Ctrl+E)</source><translation>将数据存为 CSV 或 Markdown，或将条形图存为 PNG 或 SVG（Ctrl+E）</translation></message>
<message><source>FP32 against mixed precision</source><translation>FP32 对比混合精度</translation></message>
<message><source>Choose models and precisions on the left, then press Run (B). Each model trains for a few seconds in FP32 and in each precision, in turns, on random data. The results show what is faster on this machine, and why the rest is not.</source><translation>在左侧选择模型和精度，然后点击“开始测量”（B）。每个模型用随机数据，以 FP32 和各种精度轮流训练几秒。这里会显示在本机上哪种更快；若不更快，则说明原因。</translation></message>
<message><source>Results</source><translation>结果</translation></message>
<message><source>A measurement is running.</source><translation>正在测量。</translation></message>
<message><source>Measures what is chosen on the left (B)</source><translation>测量左侧所选的项目（B）</translation></message>
<message><source>Stopping: the block in progress ends first.</source><translation>正在停止：先完成当前分块。</translation></message>
<message><source>%1: preparing</source><translation>%1：正在准备</translation></message>
<message><source>%1: largest batch in %2, trying %3</source><translation>%1：查找 %2 的最大批量，正在尝试 %3</translation></message>
<message><source>%1: %2 and FP32 in turns, %3 of %4</source><translation>%1：%2 与 FP32 轮流测量，第 %3 对，共 %4 对</translation></message>
</context>
    <context>
        <name>ui::PresetMenu</name>
<message><source>Presets</source><translation>预设</translation></message>
<message><source>Your settings</source><translation>您的设置</translation></message>
<message><source>Examples</source><translation>示例</translation></message>
<message><source>Save the settings as a preset…</source><translation>将设置保存为预设…</translation></message>
<message><source>Save the settings as a preset</source><translation>将设置保存为预设</translation></message>
<message><source>Delete a preset</source><translation>删除预设</translation></message>
<message><source>Name, as in: halftone train NAME</source><translation>名称，用法：halftone train 名称</translation></message>
<message><source>Replace the preset %1?</source><translation>替换预设 %1？</translation></message>
<message><source>The settings are saved as %1.</source><translation>设置已保存为 %1。</translation></message>
<message><source>File &gt; Presets loads them; so does: halftone train "%1"</source><translation>可从“文件 &gt; 预设”载入，或运行：halftone train "%1"</translation></message>
<message><source>Delete the preset %1?</source><translation>删除预设 %1？</translation></message>
    </context>
    <context>
        <name>ui::KeysDialog</name>
<message><source>Keyboard shortcuts</source><translation>键盘快捷键</translation></message>
<message><source>Click into a field and press the new keys.</source><translation>单击输入框，然后按下新的按键。</translation></message>
<message><source>Command</source><translation>命令</translation></message>
<message><source>Keys</source><translation>按键</translation></message>
<message><source>All back to default</source><translation>全部恢复默认</translation></message>
<message><source>Keys of %1</source><translation>%1 的按键</translation></message>
<message><source>default</source><translation>默认</translation></message>
<message><source>Default keys of %1</source><translation>%1 的默认按键</translation></message>
<message><source>%1 is the key of "%2". Choose another one, or change that first.</source><translation>%1 已是“%2”的按键。请另选一个，或先更改后者。</translation></message>
<message><source>Show %1</source><translation>显示%1页</translation></message>
    </context>
    <context>
        <name>ui::NextRunNote</name>
<message><source>Locked while the run trains.</source><translation>运行训练期间锁定。</translation></message>
<message><source>change for the next run</source><translation>为下一次运行更改</translation></message>
<message><source>The run on screen keeps its settings.</source><translation>屏幕上的运行保持其设置不变。</translation></message>
<message><source>Settings of the next run. They differ from the run on screen in %1 and %2 more.</source><translation>下一次运行的设置。与屏幕上的运行不同：%1，另有 %2 项。</translation></message>
<message><source>Settings of the next run. They differ from the run on screen in %1.</source><translation>下一次运行的设置。与屏幕上的运行不同：%1。</translation></message>
<message><source>use the run's settings</source><translation>采用该运行的设置</translation></message>
<message><source>Puts the settings of the run on screen here.</source><translation>将屏幕上运行的设置填入此处。</translation></message>
<message><source>Settings of the next run. The run on screen has the same ones.</source><translation>下一次运行的设置。与屏幕上的运行相同。</translation></message>
<message><source>Settings of the next run.</source><translation>下一次运行的设置。</translation></message>
    </context>
    <context>
        <name>PolicyWords</name>
<message><source>Static %1</source><translation>静态 %1</translation></message>
<message><source>Initial scale %1</source><translation>初始缩放 %1</translation></message>
<message><source>Backoff after %1 skips</source><translation>跳过 %1 次后回退</translation></message>
<message><source>No loss scaler</source><translation>无损失缩放器</translation></message>
    </context>
    <context>
        <name>RuleWords</name>
<message><source>16 bits</source><translation>16 位</translation></message>
<message><source>FP32</source><translation>FP32</translation></message>
<message><source>widest</source><translation>最宽</translation></message>
<message><source>no entry</source><translation>无条目</translation></message>
<message><source>casts</source><translation>转换</translation></message>
<message><source>forced</source><translation>强制</translation></message>
<message><source>as forward</source><translation>同前向</translation></message>
<message><source>outside autocast</source><translation>autocast 之外</translation></message>
<message><source>by its parts</source><translation>由其组成部分决定</translation></message>
    </context>
    <context>
        <name>ui::SettingsModel</name>
<message><source>Static scale</source><translation>静态缩放因子</translation></message>
    </context>
    <context>
        <name>ui::HandInDialog</name>
<message><source>Hand in answers</source><translation>提交答案</translation></message>
<message><source>Answers: %1, lessons: %2. They go with what your runs measured.</source><translation>共 %2 课的 %1 个答案，以及您的运行的测量结果。</translation></message>
<message><source>Your name</source><translation>您的姓名</translation></message>
<message><source>Into a folder…</source><translation>提交到文件夹…</translation></message>
<message><source>The folder of your class, such as one on a shared drive.</source><translation>班级的文件夹，例如共享盘上的文件夹。</translation></message>
<message><source>As a file…</source><translation>另存为文件…</translation></message>
<message><source>A file to send or to upload.</source><translation>可发送或上传的文件。</translation></message>
<message><source>Folder of the class</source><translation>班级的文件夹</translation></message>
<message><source>Answers (*.json)</source><translation>答案 (*.json)</translation></message>
<message><source>Type your name.</source><translation>请输入您的姓名。</translation></message>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Cancelled. Nothing was handed in.</source><translation>已取消，未提交任何内容。</translation></message>
<message><source>Handed in as %1.</source><translation>已提交为 %1。</translation></message>
<message><source>You have not answered any question yet.</source><translation>您尚未回答任何问题。</translation></message>
<message><source>Handing in…</source><translation>正在提交…</translation></message>
    </context>
    <context>
        <name>ui::ClassDialog</name>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Saved as %1.</source><translation>已保存为 %1。</translation></message>
<message><source>Cancelled. No file was written.</source><translation>已取消，未写入文件。</translation></message>
<message><source>Answers of the class</source><translation>班级的答案</translation></message>
<message><source>Learners: %1 · %2</source><translation>%1 名学员 · %2</translation></message>
<message><source>Lesson</source><translation>课</translation></message>
<message><source>Question</source><translation>问题</translation></message>
<message><source>Answers</source><translation>答案数</translation></message>
<message><source>Predicted</source><translation>预测</translation></message>
<message><source>Measured</source><translation>测得</translation></message>
<message><source>Save all answers as CSV…</source><translation>将全部答案保存为 CSV…</translation></message>
<message><source>and further files: %1</source><translation>另有 %1 个文件</translation></message>
<message><source>There are no answers in this folder. Each learner's file is handed in there.</source><translation>此文件夹中没有答案。学员的文件应提交到这里。</translation></message>
<message><source>answers</source><translation>答案</translation></message>
<message><source>CSV files (*.csv)</source><translation>CSV 文件 (*.csv)</translation></message>
    </context>
<context>
    <name>ui::Notifier</name>
<message><source>The machine was not suspended: %1</source><translation>机器没有挂起：%1</translation></message>
<message><source>A run could not begin</source><translation>有运行未能开始</translation></message>
<message><source>Comparison %1 failed</source><translation>对比 %1 失败</translation></message>
<message><source>Run %1 failed</source><translation>运行 %1 失败</translation></message>
<message><source>Comparison %1 has ended</source><translation>对比 %1 已结束</translation></message>
<message><source>Run %1 has ended</source><translation>运行 %1 已结束</translation></message>
<message><source>The queue has ended</source><translation>队列已结束</translation></message>
<message><source>%1 done, %2 failed</source><translation>%1 个完成，%2 个失败</translation></message>
<message><source>The command at the queue&apos;s end ended with status %1.</source><translation>队列结束后的命令以状态 %1 结束。</translation></message>
</context>
<context>
    <name>ui::Desktop</name>
<message><source>Show</source><translation>显示</translation></message>
<message><source>There is no system bus.</source><translation>没有系统总线。</translation></message>
</context>
    <context>
        <name>ui::ShareLegend</name>
<message><source>most</source><translation>多</translation></message>
<message><source>few</source><translation>少</translation></message>
<message><source>Shades: from few values to most of the layer's values</source><translation>深浅：从少量数值到该层的多数数值</translation></message>
    </context>
<context>
    <name>TimeLeft</name>
<message><source>%1 left</source><translation>剩余 %1</translation></message>
</context>
<context>
    <name>ScaleAnswer</name>
<message><source>the model</source><translation>模型</translation></message>
<message><source>now %1</source><translation>当前 %1</translation></message>
<message><source>step %1 had %2</source><translation>第 %1 步为 %2</translation></message>
<message><source>%1, %2 bits below overflow in %3</source><translation>%1，距 %3 上溢还有 %2 位</translation></message>
<message><source>%1, which is %2 bits too high: %3 overflows</source><translation>%1，高了 %2 位：%3 上溢</translation></message>
<message><source>At %1 gradients of %2 are not finite, so the largest scale that fits is not known from this step; a shadow pass finds it if the loss is finite.</source><translation>在 %1 下 %2 的梯度非有限，因此由这一步无法得知可用的最大缩放；若损失有限，影子计算可以求出。</translation></message>
<message><source>All gradients of this step are zero.</source><translation>这一步的梯度全为零。</translation></message>
<message><source>Fits up to %1; %2. The smallest gradients were lost before they could be counted.</source><translation>最大可用 %1；%2。最小的梯度在统计之前已丢失。</translation></message>
<message><source>In FP16 a loss scale up to %1 fits.</source><translation>FP16 下损失缩放最大可用 %1。</translation></message>
<message><source>No scale fits: the small gradients need %1, and %2 overflows above %3.</source><translation>没有合适的缩放：小梯度需要 %1，而超过 %3 时 %2 上溢。</translation></message>
<message><source>In FP16 a loss scale from %1 to %2 fits.</source><translation>FP16 下损失缩放从 %1 到 %2 均可用。</translation></message>
<message><source>Fits from %1 to %2; %3, so small gradients become zero.</source><translation>可用范围 %1 到 %2；%3，小梯度会变成零。</translation></message>
<message><source>Fits from %1 to %2; %3.</source><translation>可用范围 %1 到 %2；%3。</translation></message>
<message><source>%1 holds values that are not finite.</source><translation>%1 含有非有限值。</translation></message>
<message><source>All values of this step are zero.</source><translation>这一步的值全为零。</translation></message>
<message><source>FP16 does not hold them: %1 overflows by %2 bits.</source><translation>FP16 放不下：%1 上溢 %2 位。</translation></message>
<message><source>none become zero</source><translation>没有变成零的值</translation></message>
<message><source>less than 0.01 % become zero</source><translation>变成零的不足 0.01 %</translation></message>
<message><source>%1 % become zero</source><translation>%1 % 变成零</translation></message>
<message><source>FP16 holds them: %1 bits below overflow in %2; %3.</source><translation>FP16 可以容纳：距 %2 上溢还有 %1 位；%3。</translation></message>
</context>
<context>
    <name>ui::StepJobs</name>
<message><source>Computing the steps before it again: %1 of %2</source><translation>正在重算之前的步：%1 / %2</translation></message>
<message><source>Cancelling…</source><translation>正在取消…</translation></message>
</context>
    <context>
        <name>ui::FileWorks</name>
<message><source>%1: cancelled. Nothing was kept.</source><translation>%1：已取消，没有留下任何文件。</translation></message>
<message><source>Exporting %1</source><translation>正在导出 %1</translation></message>
<message><source>Exported to %1.</source><translation>已导出到 %1。</translation></message>
<message><source>%1: cancelling…</source><translation>%1：正在取消…</translation></message>
<message><source>%1 (and %2 more)</source><translation>%1（另有 %2 项）</translation></message>
    </context>
    <context>
        <name>ui::WorkStrip</name>
<message><source>Cancel</source><translation>取消</translation></message>
<message><source>Cancel: %1</source><translation>取消：%1</translation></message>
<message><source>Stops it and removes what it has written so far.</source><translation>停止，并删除已写入的内容。</translation></message>
    </context>
    <context>
        <name>ui::ColumnPicker</name>
<message><source>Choose from the columns of the table (Alt+Down).</source><translation>从表格的列中选择（Alt+Down）。</translation></message>
    </context>
    <context>
        <name>SettingTitle</name>
<message><source>Checkpoints</source><translation>检查点</translation></message>
<message><source>Gradient clipping</source><translation>梯度裁剪</translation></message>
<message><source>Data</source><translation>数据</translation></message>
<message><source>Early stopping</source><translation>早停</translation></message>
<message><source>Evaluation</source><translation>评估</translation></message>
<message><source>Instruments</source><translation>仪器</translation></message>
<message><source>Logs</source><translation>日志</translation></message>
<message><source>Model</source><translation>模型</translation></message>
<message><source>Optimizer</source><translation>优化器</translation></message>
<message><source>Precision</source><translation>精度</translation></message>
<message><source>Loss scaler</source><translation>损失缩放器</translation></message>
<message><source>Learning-rate schedule</source><translation>学习率调度</translation></message>
<message><source>Task</source><translation>任务</translation></message>
<message><source>Faults for teaching</source><translation>教学用故障</translation></message>
    </context>
    <context>
        <name>ui::NetworkOverview</name>
<message><source>All layers</source><translation>全部层</translation></message>
<message><source>all %1 layers</source><translation>全部 %1 层</translation></message>
<message><source>layer %1, %2, %3 parameters</source><translation>第 %1 层，%2，%3 个参数</translation></message>
<message><source>%1, saves %2</source><translation>%1，保存 %2</translation></message>
    </context>
    <context>
        <name>ui::NetworkPage</name>
<message><source>PyTorch prints a model like this, without its connections.</source><translation>这是 PyTorch 打印的模型，其中没有连接关系。</translation></message>
<message><source>Convert it</source><translation>转换</translation></message>
<message><source>Leave it</source><translation>保持原样</translation></message>
<message><source>Export</source><translation>导出</translation></message>
<message><source>Export the network</source><translation>导出网络</translation></message>
<message><source>A network that comes with the program, as a text that you can change.</source><translation>程序自带的网络，是可以修改的文本。</translation></message>
<message><source>A text that you have: NAME.network. It can be dropped on the window, too.</source><translation>已有的文本：NAME.network。也可以拖放到窗口中。</translation></message>
<message><source>Import ONNX…</source><translation>导入 ONNX…</translation></message>
<message><source>ONNX files cannot be read yet.</source><translation>目前还不能读取 ONNX 文件。</translation></message>
<message><source>This is the %1, to read. The next run trains your own.</source><translation>这是%1，只读。下一次运行训练您自己的文本。</translation></message>
<message><source>Back</source><translation>返回</translation></message>
<message><source>The text has an error.</source><translation>文本有错误。</translation></message>
<message><source>The network in another form, with these sizes and options</source><translation>以另一种形式写出网络，使用这些尺寸和选项</translation></message>
<message><source>Template</source><translation>模板</translation></message>
<message><source>Begin with a network that comes with the program</source><translation>从程序自带的网络开始</translation></message>
<message><source>Totals</source><translation>合计</translation></message>
<message><source>Next error</source><translation>下一个错误</translation></message>
<message><source>Previous error</source><translation>上一个错误</translation></message>
<message><source>Replace the error at the cursor</source><translation>替换光标处的错误</translation></message>
<message><source>Next use of the block</source><translation>块的下一次使用</translation></message>
<message><source>Previous use of the block</source><translation>块的上一次使用</translation></message>
<message><source>%1 layers · result %2</source><translation>%1 层 · 输出 %2</translation></message>
<message><source>A network that comes with the program. It can be read here; a copy can be changed.</source><translation>程序自带的网络。此处只能阅读；可以编辑其副本。</translation></message>
<message><source>Edit a copy</source><translation>编辑副本</translation></message>
<message><source>Network</source><translation>网络</translation></message>
<message><source>Open…</source><translation>打开…</translation></message>
<message><source>Save</source><translation>保存</translation></message>
<message><source>Writes the text into its file. Training needs no file.</source><translation>将文本写入文件。训练不需要文件。</translation></message>
<message><source>image</source><translation>图像</translation></message>
<message><source>Channels, height and width of an image</source><translation>图像的通道数、高和宽</translation></message>
<message><source>Channels, height and width of an image: 3 × 32 × 32</source><translation>图像的通道数、高和宽：3 × 32 × 32</translation></message>
<message><source>outputs</source><translation>输出数</translation></message>
<message><source>Outputs: classes, targets or words</source><translation>输出数：类别、目标或词</translation></message>
<message><source>Classes, targets or words: the number that the text calls outputs</source><translation>类别、目标或词的数目，即文本中的 outputs</translation></message>
<message><source>Find</source><translation>查找</translation></message>
<message><source>Open a network</source><translation>打开网络</translation></message>
<message><source>Networks (*.network);;All files (*)</source><translation>网络 (*.network);;所有文件 (*)</translation></message>
<message><source>Save the network</source><translation>保存网络</translation></message>
<message><source>Networks (*.network)</source><translation>网络 (*.network)</translation></message>
<message><source>%1 has changes that are not saved.</source><translation>%1 有未保存的修改。</translation></message>
<message><source>Save them…</source><translation>保存…</translation></message>
<message><source>Drop them</source><translation>放弃修改</translation></message>
<message><source>Go on with this text</source><translation>继续编辑此文本</translation></message>
<message><source>%1 has changed on the disk.</source><translation>%1 在磁盘上已被修改。</translation></message>
<message><source>Reload</source><translation>重新载入</translation></message>
<message><source>Keep mine</source><translation>保留我的</translation></message>
<message><source>A draft of %1, which is not saved, was kept.</source><translation>保留了 %1 的未保存草稿。</translation></message>
<message><source>Go on with the draft</source><translation>继续编辑草稿</translation></message>
<message><source>Drop the draft</source><translation>放弃草稿</translation></message>
<message><source>%1 · edited</source><translation>%1 · 已修改</translation></message>
<message><source>sizes:</source><translation>尺寸：</translation></message>
<message><source>sizes of %1:</source><translation>%1的尺寸：</translation></message>
<message><source>Not those of the settings' data</source><translation>不是设置中数据的尺寸</translation></message>
<message><source>The data set of the settings</source><translation>设置中的数据集</translation></message>
<message><source>The settings train %1, and not this text.</source><translation>设置训练的是 %1，而不是此文本。</translation></message>
<message><source>Train this text</source><translation>训练此文本</translation></message>
    </context>
    <context>
        <name>ui::NetworkEditor</name>
<message><source>Text of the network</source><translation>网络的文本</translation></message>
<message><source>%1 of %2</source><translation>第 %1 个，共 %2 个</translation></message>
    </context>
    <context>
        <name>NetworkExport</name>
<message><source>ONNX with initial weights</source><translation>ONNX（含初始权重）</translation></message>
<message><source>Shapes, types and costs</source><translation>形状、类型和代价</translation></message>
    </context>
    <context>
        <name>ui::NetworkMemoryBars</name>
<message><source>Predicted peak memory of a step</source><translation>每步峰值内存的预测</translation></message>
<message><source>predicted peak at batch %1</source><translation>预测峰值（批次 %1）</translation></message>
<message><source>batch %1 fits</source><translation>批次 %1 可容纳</translation></message>
<message><source>no batch fits</source><translation>任何批次都容纳不下</translation></message>
<message><source>%1: %2, of which activations %3, gradients %4, weights %5, optimizer %6</source><translation>%1：%2，其中激活 %3，梯度 %4，权重 %5，优化器 %6</translation></message>
    </context>
    <context>
        <name>ui::NetworkTotals</name>
<message><source>parameters</source><translation>参数量</translation></message>
<message><source>forward pass, one sample</source><translation>前向计算（一个样本）</translation></message>
<message><source>%1 tensors</source><translation>%1 个张量</translation></message>
<message><source>A step of %1 samples: %2</source><translation>每步 %1 个样本：%2</translation></message>
    </context>
    <context>
        <name>NetworkTypes</name>
<message><source>auto</source><translation>自动</translation></message>
<message><source>It takes the type of its input</source><translation>取决于输入的类型</translation></message>
<message><source>%1: one other line, too</source><translation>%1：还包括另外一行</translation></message>
<message><source>%1: %2 other lines, too</source><translation>%1：还包括另外 %2 行</translation></message>
    </context>
    <context>
        <name>ui::NetworkColumns</name>
<message><source>saved</source><translation>保存量</translation></message>
<message><source>saved at batch %1</source><translation>保存量（批次 %1）</translation></message>
<message><source>saves %1 for the backward pass</source><translation>为反向计算保存 %1</translation></message>
<message><source>Head of the column %1</source><translation>“%1”列的表头</translation></message>
<message><source>in the norm</source><translation>并入归一化</translation></message>
<message><source>predicted</source><translation>预测类型</translation></message>
<message><source>Types of</source><translation>按此精度预测类型</translation></message>
<message><source>As in the traced step or the settings</source><translation>与所追踪的步或设置相同</translation></message>
<message><source>predicted %1</source><translation>预测 %1</translation></message>
<message><source>Shape, parameters, cost and types of each line</source><translation>每一行的形状、参数量、计算量和类型</translation></message>
<message><source>shape</source><translation>形状</translation></message>
<message><source>parameters</source><translation>参数量</translation></message>
<message><source>forward pass</source><translation>前向计算</translation></message>
<message><source>left out</source><translation>未启用</translation></message>
<message><source>Line %1</source><translation>第 %1 行</translation></message>
<message><source>shape unknown</source><translation>形状未知</translation></message>
<message><source>%1, %2 parameters, %3</source><translation>%1，%2 个参数，%3</translation></message>
<message><source>measured</source><translation>实测类型</translation></message>
<message><source>new line</source><translation>新行</translation></message>
<message><source>measured %1</source><translation>实测 %1</translation></message>
    </context>
    <context>
        <name>ui::NetworkDrawing</name>
<message><source>Drawing</source><translation>结构图</translation></message>
<message><source>drawing</source><translation>结构图</translation></message>
<message><source>none yet</source><translation>尚无</translation></message>
<message><source>of the last good text</source><translation>上一个正确文本的结构图</translation></message>
<message><source>line %1</source><translation>第 %1 行</translation></message>
<message><source>Line %1</source><translation>第 %1 行</translation></message>
<message><source>Line %1: %2, takes the values of lines %3</source><translation>第 %1 行：%2，取第 %3 行的值</translation></message>
    </context>
    <context>
        <name>ui::NetworkFoot</name>
<message><source>Forced types without a layer</source><translation>没有对应层的强制类型</translation></message>
<message><source>This text has no %1, whose type is forced: a run of it is refused.</source><translation>设置强制了 %1 的类型，但本文中没有它：用本文启动的运行会被拒绝。</translation></message>
<message><source>why this type</source><translation>类型的原因</translation></message>
<message><source>Type of this layer</source><translation>该层的类型</translation></message>
<message><source>The type that the layer computes in. Another one can be forced, for the next run.</source><translation>该层计算所用的类型。可以为下一次运行指定另一种。</translation></message>
<message><source>Layer</source><translation>层</translation></message>
<message><source>output</source><translation>输出</translation></message>
<message><source>parameters</source><translation>参数量</translation></message>
<message><source>forward pass, one sample</source><translation>前向计算（一个样本）</translation></message>
<message><source>Errors of the text</source><translation>文本中的错误</translation></message>
<message><source>Replace</source><translation>替换</translation></message>
<message><source>Replaces it by %1 (Alt+Enter)</source><translation>替换为 %1（Alt+Enter）</translation></message>
<message><source>This error has no replacement that the program knows.</source><translation>程序不知道此错误的替换方法。</translation></message>
<message><source>line %1 · %2</source><translation>第 %1 行 · %2</translation></message>
<message><source>line %1</source><translation>第 %1 行</translation></message>
    </context>
    <context>
        <name>ui::NetworkSheet</name>
<message><source>all layers</source><translation>全部层</translation></message>
<message><source>text of %1</source><translation>%1 的文本</translation></message>
<message><source>Text</source><translation>文本</translation></message>
<message><source>1 error</source><translation>1 个错误</translation></message>
<message><source>%1 errors</source><translation>%1 个错误</translation></message>
<message><source>no errors</source><translation>没有错误</translation></message>
<message><source>1 note</source><translation>1 条提示</translation></message>
<message><source>%1 notes</source><translation>%1 条提示</translation></message>
<message><source>find (Ctrl+F)</source><translation>查找 (Ctrl+F)</translation></message>
<message><source>Find in the text</source><translation>在文本中查找</translation></message>
<message><source>the text of %1</source><translation>与 %1 的文本相同</translation></message>
<message><source>1 line differs from %1</source><translation>有 1 行与 %1 不同</translation></message>
<message><source>%1 lines differ from %2</source><translation>有 %1 行与 %2 不同</translation></message>
    </context>
    <context>
        <name>ui::NetworkFiles</name>
<message><source>text of %1</source><translation>%1 的文本</translation></message>
<message><source>Saving %1</source><translation>正在保存 %1</translation></message>
<message><source>Saved %1.</source><translation>已保存 %1。</translation></message>
<message><source>%1 cannot be read as a network.</source><translation>无法将 %1 作为网络读取。</translation></message>
<message><source>Check that it is a text, and that you may read it.</source><translation>请检查它是否为文本，以及您是否有权读取。</translation></message>
    </context>
    <context>
        <name>ui::NetworkOptions</name>
<message><source>changed</source><translation>已更改</translation></message>
<message><source>Back to the text's value of %1</source><translation>恢复文本中 %1 的值</translation></message>
<message><source>Back to %1, as the text says</source><translation>恢复为文本中的 %1</translation></message>
<message><source>%1, from %2 to %3</source><translation>%1，从 %2 到 %3</translation></message>
<message><source>on</source><translation>启用</translation></message>
    </context>
    <context>
        <name>NetworkCompletion</name>
<message><source>block</source><translation>块</translation></message>
<message><source>default %1</source><translation>默认 %1</translation></message>
<message><source>option</source><translation>选项</translation></message>
<message><source>of the block</source><translation>块的参数</translation></message>
<message><source>what comes into this body</source><translation>进入此段的值</translation></message>
<message><source>the line above</source><translation>上一行</translation></message>
<message><source>input</source><translation>输入</translation></message>
    </context>
    <context>
        <name>ui::NetworkPopup</name>
<message><source>Words that fit here</source><translation>此处可用的词</translation></message>
    </context>
</TS>
