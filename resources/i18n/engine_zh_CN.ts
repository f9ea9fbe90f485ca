<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<!-- Texts of the engine: catalogs and messages. Kept by hand; the translation test finds what lacks. -->
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>engine</name>
<message><source>–</source><translation>–</translation></message>
<message><source>{} pays off: a step takes {} ms instead of {} ms.</source><translation>{} 有收益：一步用时 {} 毫秒，原为 {} 毫秒。</translation></message>
<message><source>{} pays off: forward and backward pass take {} ms instead of {} ms, and the whole step {} ms instead of {} ms.</source><translation>{} 有收益：前向和反向用时 {} 毫秒，原为 {} 毫秒；整步用时 {} 毫秒，原为 {} 毫秒。</translation></message>
<message><source>{} does not pay off: it is no faster than FP32.</source><translation>{} 没有收益：并不比 FP32 快。</translation></message>
<message><source>{} does not pay off: {} % of its step is spent waiting for data, which no precision makes faster.</source><translation>{} 没有收益：其步时间的 {} % 在等待数据，换任何精度都不会更快。</translation></message>
<message><source>{} does not pay off: forward and backward pass take {} ms instead of {} ms.</source><translation>{} 没有收益：前向和反向用时 {} 毫秒，FP32 为 {} 毫秒。</translation></message>
<message><source>{} does not pay off: the optimizer is {} % of the step, and keeps FP32 weights in every precision. A larger batch helps.</source><translation>{} 没有收益：优化器占这一步的 {} %，而它在任何精度下都保存 FP32 权重。增大批量会有帮助。</translation></message>
<message><source>A step in ms, against FP32: data {} and {}, forward {} and {}, backward {} and {}, optimizer {} and {}.</source><translation>一步的各部分（毫秒，后者为 FP32）：数据 {} 和 {}，前向 {} 和 {}，反向 {} 和 {}，优化器 {} 和 {}。</translation></message>
<message><source>Too early to say whether {} pays off: it trains {} to {} times as fast as FP32 (95 % interval).</source><translation>尚不能断定 {} 是否有收益：速度为 FP32 的 {} 到 {} 倍（95 % 区间）。</translation></message>
<message><source>These settings cannot run in any of the precisions.</source><translation>这些设置在所选的任何精度下都无法运行。</translation></message>
<message><source>{} trains {} times as fast as FP32: matrix products and convolutions are {} % of the FP32 step and take {} ms instead of {} ms.</source><translation>{} 的训练速度是 FP32 的 {} 倍：矩阵乘法和卷积占 FP32 步的 {} %，现在用时 {} 毫秒，原为 {} 毫秒。</translation></message>
<message><source>{} trains {} times as fast as FP32: operations that move data are {} % of the FP32 step, and with half the bytes they take {} ms instead of {} ms.</source><translation>{} 的训练速度是 FP32 的 {} 倍：访存型运算占 FP32 步的 {} %，数据量减半后用时 {} 毫秒，原为 {} 毫秒。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): this device multiplies {} no faster than FP32. A large product reaches {} GFLOP/s in {} and {} in FP32.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：此设备计算 {} 乘法并不比 FP32 快。大矩阵乘法达到 {} GFLOP/s（{}），FP32 为 {}。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): {} % of the step is the fixed cost of {} short operations, which no type makes cheaper. A larger batch helps.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：这一步有 {} % 的时间是 {} 个短小运算的固定开销，换任何类型都不会变少。增大批量会有帮助。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): casts are {} % of its step and move {}.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：类型转换占其步时间的 {} %，搬运 {}。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): matrix products and convolutions are only {} % of the FP32 step. {} % goes to operations that move data, which take {} ms instead of {} ms.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：矩阵乘法和卷积只占 FP32 步的 {} %。访存型运算占 {} %，现在用时 {} 毫秒，原为 {} 毫秒。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): the optimizer is {} % of the step, and keeps FP32 weights in every precision. A larger batch helps.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：优化器占这一步的 {} %，而它在任何精度下都保存 FP32 权重。增大批量会有帮助。</translation></message>
<message><source>{} does not pay off ({} times FP32's speed): products and convolutions of these sizes reach {} % of the speed of a large one in {}. Sizes that are multiples of 8, and a larger batch, help.</source><translation>{} 没有收益（速度为 FP32 的 {} 倍）：这种尺寸的乘法和卷积只达到大矩阵乘法的 {} %（{}）。使用 8 的倍数的尺寸和更大的批量会有帮助。</translation></message>
<message><source>{}: too early to say. It was {} times as fast as FP32 in the median, but {} to {} times in single blocks: something else uses this machine.</source><translation>{}：尚无法判断。中位速度是 FP32 的 {} 倍，但各段在 {} 到 {} 倍之间：有其他程序在使用这台机器。</translation></message>
<message><source>Glyphs</source><translation>字形</translation></message>
<message><source>Drawn digits and letters with noise, made from the seed; nothing to download.</source><translation>由种子生成的带噪声的手绘数字和字母，无需下载。</translation></message>
<message><source>Spirals</source><translation>双螺旋</translation></message>
<message><source>Points of two interleaved spirals, made from the seed; for the smallest networks.</source><translation>由种子生成的两条交错螺旋上的点，适合最小的网络。</translation></message>
<message><source>MNIST</source><translation>MNIST</translation></message>
<message><source>70,000 handwritten digits, 28 x 28 grey.</source><translation>70,000 张手写数字，28 x 28 灰度。</translation></message>
<message><source>The folder with the four IDX files (train-images-idx3-ubyte and so on, plain or .gz).</source><translation>包含四个 IDX 文件的文件夹（train-images-idx3-ubyte 等，可为 .gz）。</translation></message>
<message><source>Fashion-MNIST</source><translation>Fashion-MNIST</translation></message>
<message><source>70,000 pictures of clothes, 28 x 28 grey.</source><translation>70,000 张服饰图片，28 x 28 灰度。</translation></message>
<message><source>Image folder</source><translation>图片文件夹</translation></message>
<message><source>Your own pictures: a folder for each class.</source><translation>您自己的图片：每个类别一个文件夹。</translation></message>
<message><source>A folder with a folder of JPEG or PNG pictures for each class, or with train and val or test folders of such folders.</source><translation>每个类别一个子文件夹（内含 JPEG 或 PNG 图片）的文件夹，或包含 train 与 val 或 test（其中再按类别分子文件夹）的文件夹。</translation></message>
<message><source>Image size</source><translation>图像尺寸</translation></message>
<message><source>pixels</source><translation>像素</translation></message>
<message><source>Width and height of the images that the model gets. Without augmentation the shorter side is scaled to 8/7 of it, and the middle is taken.</source><translation>模型输入图像的宽和高。不做增强时，短边缩放到该尺寸的 8/7，再取正中部分。</translation></message>
<message><source>Fraction of the pictures of each class held out as the test set, drawn by the seed, where the folder has no test part of its own.</source><translation>文件夹没有单独的测试部分时，每个类别按种子随机留作测试集的图片比例。</translation></message>
<message><source>Unreadable pictures</source><translation>无法读取的图片</translation></message>
<message><source>Skip</source><translation>跳过</translation></message>
<message><source>Every picture is decoded once when the data set is opened, and those that cannot be read are left out with a warning.</source><translation>打开数据集时把每张图片解码一次，无法读取的图片会被略过并给出警告。</translation></message>
<message><source>Cutout</source><translation>随机遮挡（Cutout）</translation></message>
<message><source>Side of a square that is blanked at a random place of each training image; it may reach over the edge. 0: off.</source><translation>在每张训练图像的随机位置抹去的正方形的边长，可超出图像边缘。0：关闭。</translation></message>
<message><source>Color jitter</source><translation>颜色抖动</translation></message>
<message><source>Brightness, contrast and saturation of each training image are multiplied by random factors between 1 - this value and 1 + this value. 0: off.</source><translation>每张训练图像的亮度、对比度和饱和度分别乘以 1 减此值到 1 加此值之间的随机系数。0：关闭。</translation></message>
<message><source>CIFAR-10</source><translation>CIFAR-10</translation></message>
<message><source>60,000 photographs in ten classes, 32 x 32 in colour.</source><translation>60,000 张照片，十类物体，32 x 32 彩色。</translation></message>
<message><source>The folder of the binary version (data_batch_1.bin and so on, also .gz or .xz), or cifar-10-binary.tar.gz.</source><translation>二进制版本的文件夹（data_batch_1.bin 等，也可为 .gz 或 .xz），或 cifar-10-binary.tar.gz。</translation></message>
<message><source>CIFAR-100</source><translation>CIFAR-100</translation></message>
<message><source>60,000 photographs in a hundred classes, 32 x 32 in colour.</source><translation>60,000 张照片，一百类物体，32 x 32 彩色。</translation></message>
<message><source>The folder of the binary version (train.bin and test.bin, also .gz, .xz or in parts), or cifar-100-binary.tar.gz.</source><translation>二进制版本的文件夹（train.bin 和 test.bin，也可为 .gz、.xz 或分卷），或 cifar-100-binary.tar.gz。</translation></message>
<message><source>MLP</source><translation>MLP</translation></message>
<message><source>Fully connected layers with ReLU between them: the smallest network that learns.</source><translation>全连接层之间加 ReLU：能学习的最小网络。</translation></message>
<message><source>Sizes of the hidden layers, first to last.</source><translation>各隐藏层的大小，从前到后。</translation></message>
<message><source>LeNet</source><translation>LeNet</translation></message>
<message><source>Two convolutions and three fully connected layers: trains in seconds on small images.</source><translation>两个卷积层和三个全连接层：在小图片上几秒即可训练。</translation></message>
<message><source>ResNet-18</source><translation>ResNet-18</translation></message>
<message><source>Eighteen layers with shortcuts and batch norm.</source><translation>带残差连接和批归一化的十八层网络。</translation></message>
<message><source>ResNet-34</source><translation>ResNet-34</translation></message>
<message><source>Thirty-four layers with shortcuts and batch norm.</source><translation>带残差连接和批归一化的三十四层网络。</translation></message>
<message><source>ResNet-50</source><translation>ResNet-50</translation></message>
<message><source>Fifty layers in bottleneck blocks: the network that mixed-precision training is usually measured on.</source><translation>由瓶颈块组成的五十层网络：混合精度训练的测评通常以它为准。</translation></message>
<message><source>ResNet-101</source><translation>ResNet-101</translation></message>
<message><source>A hundred and one layers in bottleneck blocks.</source><translation>由瓶颈块组成的一百零一层网络。</translation></message>
<message><source>ResNet-152</source><translation>ResNet-152</translation></message>
<message><source>A hundred and fifty-two layers in bottleneck blocks.</source><translation>由瓶颈块组成的一百五十二层网络。</translation></message>
<message><source>ResNeXt-50 32x4d</source><translation>ResNeXt-50 32x4d</translation></message>
<message><source>ResNet-50 with wider 3 x 3 convolutions that are split into 32 groups.</source><translation>把 ResNet-50 的 3 x 3 卷积加宽并分成 32 组。</translation></message>
<message><source>ResNeXt-101 32x4d</source><translation>ResNeXt-101 32x4d</translation></message>
<message><source>ResNet-101 with wider 3 x 3 convolutions that are split into 32 groups.</source><translation>把 ResNet-101 的 3 x 3 卷积加宽并分成 32 组。</translation></message>
<message><source>MobileNetV2</source><translation>MobileNetV2</translation></message>
<message><source>Small and light on arithmetic: its depthwise convolutions gain least from mixed precision.</source><translation>参数少、计算量小的网络：其中的逐通道卷积从混合精度中获益最少。</translation></message>
<message><source>Stem</source><translation>输入端</translation></message>
<message><source>First layers of the network. The ImageNet stem reduces large pictures at once, the CIFAR stem keeps small ones whole. Automatic: ImageNet from 128 x 128 pixels.</source><translation>网络最前面的几层。ImageNet 输入端一开始就缩小大图片，CIFAR 输入端保持小图片的尺寸。自动：从 128 x 128 像素起采用 ImageNet。</translation></message>
<message><source>CIFAR</source><translation>CIFAR</translation></message>
<message><source>ImageNet</source><translation>ImageNet</translation></message>
<message><source>Zero-init last norm</source><translation>末尾归一化置零</translation></message>
<message><source>Starts the last batch norm of each block with weight 0, so that each block starts as the identity. Helps with large batches.</source><translation>让每个块最后一个批归一化的权重从 0 开始，使每个块起初等于恒等映射。有助于大批量训练。</translation></message>
<message><source>Share of the last layer's inputs that is set to 0 at random in training, against overfitting.</source><translation>训练中把最后一层的输入随机置 0 的比例，用来防止过拟合。</translation></message>
<message><source>FP32</source><translation>FP32</translation></message>
<message><source>Everything in fp32: the baseline for the other precisions.</source><translation>全部使用 fp32：其他精度的基准。</translation></message>
<message><source>AMP FP16</source><translation>AMP FP16</translation></message>
<message><source>Matrix products and convolutions in fp16, weights in fp32. The loss is scaled so that small gradients survive.</source><translation>矩阵乘法和卷积用 fp16 计算，权重保持 fp32，并对损失进行缩放以保住小梯度。</translation></message>
<message><source>AMP BF16</source><translation>AMP BF16</translation></message>
<message><source>As AMP FP16, but in bfloat16: the range of fp32 and 7 fraction bits, so no loss scaling is needed.</source><translation>与 AMP FP16 相同，但使用 bfloat16：范围与 fp32 相同，尾数 7 位，因此不需要损失缩放。</translation></message>
<message><source>Pure FP16</source><translation>纯 FP16</translation></message>
<message><source>Weights, batch norm and updates in fp16, without loss scaling. Shows what breaks without mixed precision.</source><translation>权重、批归一化和更新都用 fp16，且没有损失缩放。展示不用混合精度会出什么问题。</translation></message>
<message><source>FP8 delayed</source><translation>FP8 延迟缩放</translation></message>
<message><source>As AMP BF16, with the products of linear layers in FP8: E4M3 forward, E5M2 backward. A tensor's scale follows from its largest values in earlier steps.</source><translation>与 AMP BF16 相同，但线性层的乘积用 FP8：前向 E4M3，反向 E5M2。张量的缩放因子由前面各步的最大值决定。</translation></message>
<message><source>FP8 current</source><translation>FP8 即时缩放</translation></message>
<message><source>As FP8 delayed, with the scale of each tensor from its own largest value.</source><translation>与 FP8 延迟缩放相同，但每个张量的缩放因子由它自己的最大值决定。</translation></message>
<message><source>FP8 rowwise</source><translation>FP8 按行缩放</translation></message>
<message><source>As AMP BF16, with the products of linear layers in FP8 E4M3 and a scale for each row of their operands.</source><translation>与 AMP BF16 相同，但线性层的乘积用 FP8 E4M3，操作数的每一行各有一个缩放因子。</translation></message>
<message><source>FP8 blocks</source><translation>FP8 分块缩放</translation></message>
<message><source>As AMP BF16, with the products of linear layers in FP8 E4M3 and a scale for each 128 values, or 128 × 128 of a weight.</source><translation>与 AMP BF16 相同，但线性层的乘积用 FP8 E4M3，每 128 个值（权重为 128 × 128）共用一个缩放因子。</translation></message>
<message><source>NVFP4</source><translation>NVFP4</translation></message>
<message><source>As AMP BF16, with the products of linear layers in FP4: an FP8 scale for each 16 values and an FP32 scale of the tensor; gradients are rounded at random.</source><translation>与 AMP BF16 相同，但线性层的乘积用 FP4：每 16 个值共用一个 FP8 缩放因子，整个张量另有一个 FP32 缩放因子；梯度随机舍入。</translation></message>
<message><source>MXFP4</source><translation>MXFP4</translation></message>
<message><source>As MXFP8, with FP4 and gradients that are rounded at random.</source><translation>与 MXFP8 相同，但用 FP4，且梯度随机舍入。</translation></message>
<message><source>MXFP8</source><translation>MXFP8</translation></message>
<message><source>As AMP BF16, with the products of linear layers in FP8 E4M3 and a power of two as the scale of each 32 values.</source><translation>与 AMP BF16 相同，但线性层的乘积用 FP8 E4M3，每 32 个值共用一个 2 的幂作为缩放因子。</translation></message>
<message><source>Emulated: the same codes as on a card, slower than AMP BF16. Says nothing about a card's speed.</source><translation>模拟：编码与显卡相同，但比 AMP BF16 慢；不说明显卡上的速度。</translation></message>
<message><source>Recipes in 8 and 4 bits are computed on a CPU.</source><translation>8 位和 4 位配方只在 CPU 上计算。</translation></message>
<message><source>FP8, delayed scales</source><translation>FP8，延迟缩放</translation></message>
<message><source>FP8, current scales</source><translation>FP8，即时缩放</translation></message>
<message><source>FP8, scales of rows</source><translation>FP8，按行缩放</translation></message>
<message><source>FP8, scales of blocks</source><translation>FP8，分块缩放</translation></message>
<message><source>Production</source><translation>生产</translation></message>
<message><source>PyTorch's values: the scale doubles after 2,000 overflow-free steps.</source><translation>PyTorch 的取值：连续 2,000 步无溢出后缩放因子加倍。</translation></message>
<message><source>Classroom</source><translation>教学</translation></message>
<message><source>The scale doubles after only 25 overflow-free steps, so that growth and overflow show in a short run. Not for production: it skips too many steps.</source><translation>连续 25 步无溢出缩放因子就加倍，短时间内即可观察增长与溢出；不用于生产，否则会跳过太多步。</translation></message>
<message><source>SGD</source><translation>SGD</translation></message>
<message><source>Steps along the gradient, smoothed by momentum: the usual choice for image models.</source><translation>沿梯度前进并用动量平滑：图像模型的常用选择。</translation></message>
<message><source>AdamW</source><translation>AdamW</translation></message>
<message><source>Adapts the step size of every weight to its gradient history, with decoupled weight decay. Works well with little tuning.</source><translation>根据梯度历史调整每个权重的步长，权重衰减与梯度解耦；不需太多调参即可用。</translation></message>
<message><source>Data set</source><translation>数据集</translation></message>
<message><source>The data to train on. Some are generated; the others are read from files on disk.</source><translation>训练所用的数据。一部分由程序生成，其他从磁盘文件读取。</translation></message>
<message><source>Path</source><translation>路径</translation></message>
<message><source>Folder or file of the data set, compressed or not. Give several parts as a list.</source><translation>数据集的文件夹或文件，可以是压缩的；多个部分请写成列表。</translation></message>
<message><source>Augment</source><translation>数据增强</translation></message>
<message><source>Shifts each training image by a few pixels and mirrors it, both at random (data augmentation).</source><translation>对每张训练图片随机平移几个像素并随机镜像（数据增强）。</translation></message>
<message><source>Normalize</source><translation>归一化</translation></message>
<message><source>Scales the inputs to mean 0 and standard deviation 1, which keeps gradients in range.</source><translation>把输入缩放到均值 0、标准差 1，使梯度保持在合适的范围。</translation></message>
<message><source>Training limit</source><translation>训练样本上限</translation></message>
<message><source>Use only the first N training samples, for a quick try (0 = all).</source><translation>只用前 N 个训练样本，便于快速尝试（0 = 全部）。</translation></message>
<message><source>samples</source><translation>样本</translation></message>
<message><source>Test limit</source><translation>测试样本上限</translation></message>
<message><source>Use only the first N test samples (0 = all).</source><translation>只用前 N 个测试样本（0 = 全部）。</translation></message>
<message><source>Order file</source><translation>顺序文件</translation></message>
<message><source>File with the sample indices of one batch per line, to replay another program's batches exactly. Empty: shuffled by the seed.</source><translation>每行一个批次的样本编号，用于精确重放另一程序的批次；留空则按种子打乱。</translation></message>
<message><source>The network to train. Small networks show the same effects as large ones, sooner.</source><translation>要训练的网络。小网络与大网络现象相同，只是更快看到。</translation></message>
<message><source>Model</source><translation>模型</translation></message>
<message><source>Start from</source><translation>初始权重</translation></message>
<message><source>Precision</source><translation>精度</translation></message>
<message><source>Number formats for computing and for storing the weights. The settings below override its parts.</source><translation>计算和保存权重所用的数值格式；下面各项可分别覆盖其中的设置。</translation></message>
<message><source>Weights</source><translation>权重</translation></message>
<message><source>Storage format of the weights. In fp16, an update below half a unit in the last place of its weight is lost.</source><translation>权重的保存格式。用 fp16 时，小于权重最低位一半（0.5 ulp）的更新会丢失。</translation></message>
<message><source>Autocast</source><translation>自动转换</translation></message>
<message><source>Format of matrix products and convolutions. Operations that need range or precision stay in fp32.</source><translation>矩阵乘法和卷积的计算格式；需要范围或精度的运算仍用 fp32。</translation></message>
<message><source>Batch norm</source><translation>批归一化</translation></message>
<message><source>Format of batch norm's parameters and statistics, the first to lose accuracy in fp16.</source><translation>批归一化的统计量和参数的格式，它们在 fp16 中最先损失精度。</translation></message>
<message><source>Master weights</source><translation>主权重</translation></message>
<message><source>Keeps an fp32 copy of fp16 weights, so that small updates accumulate instead of being lost.</source><translation>为 fp16 权重保留一份 fp32 副本，使微小的更新能够累积而不丢失。</translation></message>
<message><source>Loss scaling</source><translation>损失缩放</translation></message>
<message><source>Multiplies the loss before the backward pass so that small fp16 gradients do not underflow to 0. Dynamic adapts the scale; static keeps it and never skips a step.</source><translation>在反向传播前放大损失，使很小的 fp16 梯度不会下溢为 0。动态会调整缩放因子；静态保持不变且从不跳过步。</translation></message>
<message><source>Recipe</source><translation>配方</translation></message>
<message><source>Formats and scales in 8 or 4 bits for the operands of products with weights, on a CPU. None: as autocast has them.</source><translation>在 CPU 上，与权重相乘的操作数所用的 8 位或 4 位格式和缩放因子。无：由自动转换决定。</translation></message>
<message><source>Scaler preset</source><translation>缩放器预设</translation></message>
<message><source>Values of the loss scaler: for real training, or with a scale that moves often enough to watch in a short run.</source><translation>损失缩放器的取值：用于实际训练，或让缩放因子变化得足够频繁，短时间即可观察。</translation></message>
<message><source>Initial scale</source><translation>初始缩放因子</translation></message>
<message><source>Loss scale of the first step. A value that is too high costs only a few skipped steps.</source><translation>第一步的缩放因子；过高只会多跳过几步。</translation></message>
<message><source>Growth factor</source><translation>增长系数</translation></message>
<message><source>The scale is multiplied by this after a full growth interval without overflow.</source><translation>连续一个增长间隔无溢出后，缩放因子乘以该系数。</translation></message>
<message><source>Backoff factor</source><translation>回退系数</translation></message>
<message><source>The scale is multiplied by this after a gradient overflow. That step is skipped.</source><translation>某步梯度溢出后，缩放因子乘以该系数，并跳过这一步。</translation></message>
<message><source>Growth interval</source><translation>增长间隔</translation></message>
<message><source>Overflow-free steps before the scale grows.</source><translation>缩放因子增大前需要的无溢出步数。</translation></message>
<message><source>steps</source><translation>步</translation></message>
<message><source>Min scale</source><translation>最小缩放因子</translation></message>
<message><source>Training fails with an explanation if the scale falls below this (0 = no limit).</source><translation>缩放因子若低于该值，训练会中止并给出说明（0 = 不限）。</translation></message>
<message><source>Max scale</source><translation>最大缩放因子</translation></message>
<message><source>The scale never grows above this (0 = no limit).</source><translation>缩放因子不会超过该值（0 = 不限）。</translation></message>
<message><source>Optimizer</source><translation>优化器</translation></message>
<message><source>The rule that turns gradients into weight updates.</source><translation>把梯度变为权重更新的规则。</translation></message>
<message><source>Learning rate</source><translation>学习率</translation></message>
<message><source>Step size. Too high: the loss jumps or becomes NaN. Too low: training stalls.</source><translation>步长。太大：损失跳动或变为 NaN；太小：训练停滞。</translation></message>
<message><source>Momentum</source><translation>动量</translation></message>
<message><source>Share of the previous direction that each step of SGD keeps: 0 is none, 0.9 is usual.</source><translation>SGD 每步保留多少先前的方向：0 为不保留，常用 0.9。</translation></message>
<message><source>Nesterov</source><translation>Nesterov</translation></message>
<message><source>Nesterov momentum: looks ahead along the momentum before the step, which often converges slightly faster.</source><translation>先沿动量方向前瞻再更新，常常收敛得略快。</translation></message>
<message><source>Weight decay</source><translation>权重衰减</translation></message>
<message><source>Pulls every weight towards 0 in each step, against overfitting.</source><translation>每步把权重略微拉向 0，防止过拟合。</translation></message>
<message><source>Beta 1</source><translation>Beta 1</translation></message>
<message><source>Decay rate of the running mean of gradients. 0.9 averages over about 10 steps.</source><translation>梯度滑动平均的衰减率。0.9 约平均 10 步。</translation></message>
<message><source>Beta 2</source><translation>Beta 2</translation></message>
<message><source>Decay rate of the running mean of squared gradients. 0.999 averages over about 1,000 steps.</source><translation>梯度平方滑动平均的衰减率。0.999 约平均 1,000 步。</translation></message>
<message><source>Epsilon</source><translation>Epsilon</translation></message>
<message><source>Small number added to the divisor, so that a weight with tiny gradients does not get a huge update.</source><translation>加到分母上的小数，避免梯度极小的权重得到过大的更新。</translation></message>
<message><source>Schedule</source><translation>学习率计划</translation></message>
<message><source>How the learning rate changes over the run. Only applied updates count, not skipped steps.</source><translation>学习率在训练过程中如何变化。只计已生效的更新，跳过的步不算。</translation></message>
<message><source>The same learning rate throughout.</source><translation>学习率始终不变。</translation></message>
<message><source>Falls to 0 along half a cosine.</source><translation>沿半个余弦降到 0。</translation></message>
<message><source>Step</source><translation>阶梯</translation></message>
<message><source>Multiplies the learning rate by gamma every few updates.</source><translation>每隔若干次更新，将学习率乘以 gamma。</translation></message>
<message><source>Step size</source><translation>阶梯间隔</translation></message>
<message><source>Applied updates between two drops of the learning rate.</source><translation>两次降低学习率之间已生效的更新次数。</translation></message>
<message><source>Gamma</source><translation>Gamma</translation></message>
<message><source>Each drop multiplies the learning rate by this.</source><translation>每次降低时学习率所乘的系数。</translation></message>
<message><source>Multi-step</source><translation>多步衰减</translation></message>
<message><source>Multiplies the learning rate by gamma at each milestone.</source><translation>每到一个里程碑，将学习率乘以 gamma。</translation></message>
<message><source>Milestones</source><translation>里程碑</translation></message>
<message><source>When the learning rate drops: a rising list, counted from the run's first update, warm-up included.</source><translation>学习率降低的时刻：递增列表，从运行的第一次更新算起，包含预热。</translation></message>
<message><source>Updates</source><translation>更新次数</translation></message>
<message><source>Milestones in</source><translation>里程碑单位</translation></message>
<message><source>Applied updates, or epochs: a milestone in epochs stands for as many times the updates of an epoch.</source><translation>已生效的更新次数，或轮数：以轮计的里程碑乘以每轮的更新次数。</translation></message>
<message><source>use 1 to {} numbers, each larger than the one before</source><translation>请使用 1 到 {} 个数，每个都大于前一个</translation></message>
<message><source>One-cycle</source><translation>单周期（1cycle）</translation></message>
<message><source>Rises from 1/25 of the largest learning rate over the first 30 % of the updates, then falls to nearly 0.</source><translation>在前 30 % 的更新中从最大学习率的 1/25 升到最大值，然后降到接近 0。</translation></message>
<message><source>Largest rate</source><translation>最大学习率</translation></message>
<message><source>Learning rate at the top of the cycle (0 = optimizer.lr).</source><translation>周期最高处的学习率（0 = optimizer.lr）。</translation></message>
<message><source>Polynomial</source><translation>多项式</translation></message>
<message><source>Falls to 0 along a power of the share of updates left; power 1 is a straight line.</source><translation>按剩余更新比例的幂降到 0；幂为 1 时是直线。</translation></message>
<message><source>Power</source><translation>幂次</translation></message>
<message><source>1 falls in a straight line, 2 faster at first.</source><translation>1 为直线下降，2 则开始时降得更快。</translation></message>
<message><source>Plateau</source><translation>平台期（plateau）</translation></message>
<message><source>Multiplies the learning rate by gamma when the evaluated metric has stopped improving.</source><translation>当评估指标不再改善时，将学习率乘以 gamma。</translation></message>
<message><source>Patience</source><translation>容忍轮数</translation></message>
<message><source>Evaluated epochs without improvement that are tolerated before the learning rate drops.</source><translation>学习率降低之前，容许指标没有改善的已评估轮数。</translation></message>
<message><source>Warm-up</source><translation>预热</translation></message>
<message><source>Applied updates over which the learning rate first rises linearly to where the schedule begins (0 = none). The schedule then takes the remaining updates.</source><translation>学习率先线性上升到计划起点所用的已生效更新次数（0 = 不预热）。之后的更新按计划进行。</translation></message>
<message><source>updates</source><translation>次更新</translation></message>
<message><source>Early stopping</source><translation>早停</translation></message>
<message><source>Ends the run after this many evaluated epochs in which the metric did not improve (0 = never). The metric is that of the validation part, else of the test part; the loss where there is none.</source><translation>指标连续这么多个已评估的轮次没有改善就结束运行（0 = 从不）。指标取自验证集，没有验证集时取自测试集；没有指标时看损失。</translation></message>
<message><source>Least improvement</source><translation>最小改善量</translation></message>
<message><source>Early stopping does not count an improvement of the metric up to this size.</source><translation>不超过此值的改善，早停不计为改善。</translation></message>
<message><source>use at most {} runs</source><translation>最多 {} 次运行</translation></message>
<message><source>use path=value,value, such as optimizer.lr=0.1,0.01</source><translation>写成 path=值,值，例如 optimizer.lr=0.1,0.01</translation></message>
<message><source>use 1 if the points have their own seeds</source><translation>各组设置自带种子时请用 1</translation></message>
<message><source>{}: another program is using the queue</source><translation>{}：另一个程序正占用队列</translation></message>
<message><source>{}: the queue is damaged</source><translation>{}：队列文件已损坏</translation></message>
<message><source>Move the file away and add the runs again.</source><translation>请移走该文件，并重新添加运行。</translation></message>
<message><source>{}: this run of the queue is being trained</source><translation>{}：队列中的这个运行正在训练</translation></message>
<message><source>Stop it first.</source><translation>请先停止它。</translation></message>
<message><source>{}: there is no such run in the queue</source><translation>{}：队列中没有这个运行</translation></message>
<message><source>use a file of at most 1 MiB that can be read</source><translation>请使用可以读取且不超过 1 MiB 的文件</translation></message>
<message><source>Clip gradients</source><translation>梯度裁剪</translation></message>
<message><source>Limits the gradients after unscaling: norm scales all of them together, value clamps each element.</source><translation>在取消缩放之后限制梯度：按范数整体缩小，按值逐个截断。</translation></message>
<message><source>Clip at</source><translation>裁剪阈值</translation></message>
<message><source>Largest norm, or largest magnitude of an element, that the gradients may have.</source><translation>梯度允许的最大范数，或单个数的最大绝对值。</translation></message>
<message><source>Gradient penalty</source><translation>梯度惩罚</translation></message>
<message><source>Adds this multiple of the gradient norm to the loss, which favours flat minima. Needs second derivatives in every step, which not all models have (0 = off).</source><translation>把梯度范数乘以该倍数加到损失上，使训练偏向平坦的极小值。每一步都要求二阶导数，并非所有模型都支持（0 = 关闭）。</translation></message>
<message><source>Hysteresis</source><translation>滞后次数</translation></message>
<message><source>Overflows before the scale backs off. 1 backs off at once; a higher value only skips the step of a single outlier.</source><translation>溢出达到该次数后缩放因子才回退。1 表示立即回退；更大的值使偶发溢出只跳过那一步。</translation></message>
<message><source>Batch size</source><translation>批量大小</translation></message>
<message><source>Samples per gradient. Larger batches give smoother gradients and higher throughput, but need more memory.</source><translation>每个梯度所用的样本数。批量越大，梯度越平滑、吞吐越高，但占用更多内存。</translation></message>
<message><source>Accumulate</source><translation>梯度累积</translation></message>
<message><source>Batches whose gradients are added up before one step: the effect of a larger batch in the same memory.</source><translation>累加多个批次的梯度后再更新一步，用同样的内存达到更大批量的效果。</translation></message>
<message><source>batches</source><translation>批</translation></message>
<message><source>Epochs</source><translation>轮数</translation></message>
<message><source>Number of passes over the whole training set. 0 only evaluates the weights that the run starts from.</source><translation>训练遍历整个训练集的次数。0 表示只评估运行开始时的权重。</translation></message>
<message><source>use 1 or more: early_stopping.patience and schedule.kind plateau wait for evaluations at the ends of epochs</source><translation>请使用 1 或更大的数：early_stopping.patience 与 schedule.kind plateau 等待每轮结束时的评估</translation></message>
<message><source>use 1 or more, or choose the weights to evaluate in model.init_from</source><translation>请使用 1 或更大的数，或在 model.init_from 中选择要评估的权重</translation></message>
<message><source>Evaluate every</source><translation>评估间隔</translation></message>
<message><source>Evaluates after this many steps (0 = not by steps). Early stopping and schedules that wait for progress look at the ends of epochs only.</source><translation>每隔这么多步评估一次（0 = 不按步数）。早停和等待改进的学习率计划只看每轮结束时的评估。</translation></message>
<message><source>Evaluates after this many epochs (0 = not by epochs). The end of the run is always evaluated.</source><translation>每隔这么多轮评估一次（0 = 不按轮数）。运行结束时总会评估。</translation></message>
<message><source>epochs</source><translation>轮</translation></message>
<message><source>Step limit</source><translation>步数上限</translation></message>
<message><source>Ends the run after this many steps (0 = no limit).</source><translation>达到这么多步后结束（0 = 不限）。</translation></message>
<message><source>Seed</source><translation>随机种子</translation></message>
<message><source>Seed of all randomness: the same seed gives the same weights, order and noise.</source><translation>所有随机性的种子：相同的种子得到相同的初始权重、顺序和噪声。</translation></message>
<message><source>Device</source><translation>设备</translation></message>
<message><source>Device that computes. Auto takes the first GPU, else the CPU.</source><translation>用于计算的设备。自动选第一块 GPU，没有则用 CPU。</translation></message>
<message><source>Threads</source><translation>线程数</translation></message>
<message><source>CPU threads (0 = all cores). Results repeat bit for bit only with the same number.</source><translation>CPU 线程数（0 = 全部核心）。只有线程数相同，结果才逐位一致。</translation></message>
<message><source>threads</source><translation>线程</translation></message>
<message><source>Deterministic</source><translation>确定性</translation></message>
<message><source>Uses only algorithms that give the same bits in every run, even where a faster one exists.</source><translation>只使用每次运行逐位一致的算法，即使有更快的算法。</translation></message>
<message><source>Workers</source><translation>工作进程</translation></message>
<message><source>Processes that train the run together on this machine, each on its part of every batch. The batch size is that of all of them.</source><translation>在这台机器上共同训练此运行的进程数，每个进程处理每个批量的一部分。批量大小是所有进程的总和。</translation></message>
<message><source>This program is one of several ranks, but it was built without MPI.</source><translation>此程序是多个进程之一，但构建时没有 MPI。</translation></message>
<message><source>Build it with HALFTONE_MPI=ON, or start it without mpirun.</source><translation>请用 HALFTONE_MPI=ON 构建，或不经 mpirun 启动。</translation></message>
<message><source>This program is one of several ranks, and Open MPI cannot be opened: {}.</source><translation>此程序是多个进程之一，但无法打开 Open MPI：{}。</translation></message>
<message><source>Install it (Debian's package openmpi-bin), or start the program without mpirun.</source><translation>请安装它（Debian 软件包 openmpi-bin），或不经 mpirun 启动程序。</translation></message>
<message><source>The ranks cannot reach one another: {}.</source><translation>各进程（rank）之间无法通信：{}。</translation></message>
<message><source>Rank {} (process {} on {}) has not responded for 20 seconds.</source><translation>rank {}（进程 {}，主机 {}）已 20 秒没有响应。</translation></message>
<message><source>Rank {} (process {} on {}) ended unexpectedly.</source><translation>rank {}（进程 {}，主机 {}）意外结束。</translation></message>
<message><source>The launcher that started the ranks has ended.</source><translation>启动各进程的启动器已结束。</translation></message>
<message><source>MPI cannot be initialised: error {}.</source><translation>MPI 无法初始化：错误 {}。</translation></message>
<message><source>Rank {} runs version {} of the program, and rank 0 version {}.</source><translation>rank {} 运行的程序版本是 {}，rank 0 是 {}。</translation></message>
<message><source>Rank {} has other settings than rank 0: {}.</source><translation>rank {} 的设置与 rank 0 不同：{}。</translation></message>
<message><source>Several workers need MPI, and this program was built without it.</source><translation>多个工作进程需要 MPI，而此程序构建时没有它。</translation></message>
<message><source>Several workers are started by mpirun, which is not in PATH.</source><translation>多个工作进程由 mpirun 启动，而 PATH 中没有它。</translation></message>
<message><source>Set workers to 1, or install Open MPI and build with HALFTONE_MPI=ON.</source><translation>请把 workers 设为 1，或安装 Open MPI 并用 HALFTONE_MPI=ON 构建。</translation></message>
<message><source>Several workers need Open MPI (Debian's package openmpi-bin), which cannot be opened: {}.</source><translation>多个工作进程需要 Open MPI（Debian 软件包 openmpi-bin），但无法打开它：{}。</translation></message>
<message><source>Set workers to 1, or install Open MPI (Debian's package openmpi-bin).</source><translation>请把 workers 设为 1，或安装 Open MPI（Debian 软件包 openmpi-bin）。</translation></message>
<message><source>Set workers to 1, or put the mpirun of {} in PATH.</source><translation>请把 workers 设为 1，或把 {} 的 mpirun 放入 PATH。</translation></message>
<message><source>srun started {} processes that cannot find each other.</source><translation>srun 启动了 {} 个进程，但它们无法找到彼此。</translation></message>
<message><source>Start the ranks of one run with srun --mpi=pmix (MPICH: --mpi=pmi2), and separate runs with srun -n 1 each.</source><translation>同一次运行的各个 rank 请用 srun --mpi=pmix（MPICH 用 --mpi=pmi2）启动，彼此独立的运行请各用一次 srun -n 1。</translation></message>
<message><source>{} processes were started together, and this program&apos;s MPI finds {} of them.</source><translation>共启动了 {} 个进程，而此程序的 MPI 只找到其中 {} 个。</translation></message>
<message><source>Use the mpirun that belongs to {}.</source><translation>请使用属于 {} 的 mpirun。</translation></message>
<message><source>mpirun cannot be started: {}.</source><translation>无法启动 mpirun：{}。</translation></message>
<message><source>Synchronised batch norm</source><translation>同步批归一化</translation></message>
<message><source>processes</source><translation>进程</translation></message>
<message><source>Batch norm takes mean and variance over the batch of all workers; otherwise each worker takes those of its own part.</source><translation>批归一化使用所有工作进程的整个批量的均值和方差；否则每个进程只使用自己那部分的。</translation></message>
<message><source>use a number up to batch_size, {}: each worker needs a sample</source><translation>请使用不超过 batch_size（{}）的数：每个工作进程至少需要一个样本</translation></message>
<message><source>use several workers without this setting</source><translation>使用多个工作进程时不要启用此设置</translation></message>
<message><source>workers: {}: this run has {} processes.</source><translation>workers：{}：此运行有 {} 个进程。</translation></message>
<message><source>Start it with halftone train, which starts the workers, or with mpirun.</source><translation>请用 halftone train（它会启动工作进程）或 mpirun 启动。</translation></message>
<message><source>Each worker needs a GPU of its own, and this machine has {}.</source><translation>每个工作进程需要独占一块 GPU，而此机器只有 {} 块。</translation></message>
<message><source>Workers exchange gradients between GPUs through NCCL, which is missing: {}.</source><translation>工作进程通过 NCCL 在 GPU 之间交换梯度，但找不到它：{}。</translation></message>
<message><source>The device {} cannot be used by several workers, which take the GPUs in order.</source><translation>多个工作进程按顺序各占一块 GPU，因此不能使用设备 {}。</translation></message>
<message><source>Set device to cuda, auto or cpu.</source><translation>请将 device 设为 cuda、auto 或 cpu。</translation></message>
<message><source>Rank {} has another data set than rank 0.</source><translation>进程 {} 的数据集与进程 0 的不同。</translation></message>
<message><source>Rank {}: {}</source><translation>进程 {}：{}</translation></message>
<message><source>{}: not a whole tar archive</source><translation>{}：不是完整的 tar 归档</translation></message>
<message><source>Get the file again; it was probably not copied or downloaded to its end.</source><translation>请重新获取文件；可能没有完整复制或下载。</translation></message>
<message><source>{}: damaged: its {} data cannot be unpacked</source><translation>{}：已损坏：其中的 {} 数据无法解压</translation></message>
<message><source>{}: cut short: its {} data end too early</source><translation>{}：不完整：其中的 {} 数据提前结束</translation></message>
<message><source>{}: cannot be read: {}</source><translation>{}：无法读取：{}</translation></message>
<message><source>Check the permissions of the file, and the disk.</source><translation>请检查文件权限和磁盘。</translation></message>
<message><source>{}: no such file</source><translation>{}：文件不存在</translation></message>
<message><source>Give the path of the file or of its folder.</source><translation>请给出文件或其文件夹的路径。</translation></message>
<message><source>{}: not a file</source><translation>{}：不是文件</translation></message>
<message><source>{}: the file is empty</source><translation>{}：文件为空</translation></message>
<message><source>Get the binary version of {} again.</source><translation>请重新获取 {} 的二进制版本。</translation></message>
<message><source>{}: holds {}, not {}: its records are of {} bytes</source><translation>{}：内容是 {} 而不是 {}：每条记录 {} 字节</translation></message>
<message><source>Set dataset.kind to {}, or give the path of {}.</source><translation>请把 dataset.kind 设为 {}，或给出 {} 的路径。</translation></message>
<message><source>{}: label {} of record {} is beyond the classes of {}</source><translation>{}：标签 {}（第 {} 条记录）超出了 {} 的类别数</translation></message>
<message><source>{}: holds more than fits into memory</source><translation>{}：内容超出内存容量</translation></message>
<message><source>{}: {}{}.bin is missing</source><translation>{}：缺少 {}{}.bin</translation></message>
<message><source>{}: {} bytes are not a whole number of {} records ({} bytes each): cut short or too long</source><translation>{}：{} 字节不是 {} 记录（每条 {} 字节）的整数倍：文件被截断或过长</translation></message>
<message><source>Looked for {}.</source><translation>查找了 {}。</translation></message>
<message><source>Check the permissions of the folder.</source><translation>请检查文件夹权限。</translation></message>
<message><source>{}: no path is given</source><translation>{}：没有给出路径</translation></message>
<message><source>{}: a file, not a folder of pictures</source><translation>{}：这是文件，不是图片文件夹</translation></message>
<message><source>Set dataset.path to a folder with a folder of pictures for each class.</source><translation>请将 dataset.path 设为每个类别各有一个图片子文件夹的文件夹。</translation></message>
<message><source>{}: no folder for any class</source><translation>{}：没有任何类别的子文件夹</translation></message>
<message><source>{}: a single class, {}</source><translation>{}：只有一个类别 {}</translation></message>
<message><source>Put the pictures of each class into a folder of its own; two classes are the least.</source><translation>请把每个类别的图片放入各自的文件夹；至少需要两个类别。</translation></message>
<message><source>{}: a class without pictures</source><translation>{}：该类别没有图片</translation></message>
<message><source>Put JPEG or PNG pictures there, or remove the folder.</source><translation>请放入 JPEG 或 PNG 图片，或删除该文件夹。</translation></message>
<message><source>{}: the training part has no class {}</source><translation>{}：训练部分没有类别 {}</translation></message>
<message><source>Its folders must have the names of the training folders.</source><translation>其子文件夹必须与训练部分的子文件夹同名。</translation></message>
<message><source>{}: the folders are nested without end</source><translation>{}：文件夹无止境地嵌套</translation></message>
<message><source>A link leads back to a folder above it.</source><translation>有链接指回了上层文件夹。</translation></message>
<message><source>{}: give one folder, not {}</source><translation>{}：只能指定一个文件夹，而不是 {} 个</translation></message>
<message><source>{}: {} files are left out, since only JPEG and PNG pictures in the folders of the classes are read: {}</source><translation>{}：略过了 {} 个文件，因为只读取类别文件夹中的 JPEG 和 PNG 图片：{}</translation></message>
<message><source>{}: {} of {} pictures cannot be read: {}</source><translation>{}：{} 张图片无法读取（共 {} 张）：{}</translation></message>
<message><source>Remove them, or set dataset.unreadable to skip.</source><translation>请删除它们，或将 dataset.unreadable 设为 skip。</translation></message>
<message><source>{}: {} of {} pictures cannot be read and are left out: {}</source><translation>{}：{} 张图片无法读取，已略过（共 {} 张）：{}</translation></message>
<message><source>{}: no picture of the class {} can be read</source><translation>{}：类别 {} 没有任何可读取的图片</translation></message>
<message><source>{}: a damaged JPEG picture: {}</source><translation>{}：JPEG 图片已损坏：{}</translation></message>
<message><source>Not even a batch of 1 fits into {}.</source><translation>{} 内连大小为 1 的批次也放不下。</translation></message>
<message><source>Give it more memory, or take a smaller model.</source><translation>请给予更多内存，或换用较小的模型。</translation></message>
<message><source>dataset.order: {}: the file defines the batches, so there is no batch size to find</source><translation>dataset.order：{}：该文件已规定每个批次由哪些样本组成，因此没有批次大小可查找</translation></message>
<message><source>Set dataset.path to the folder with {}.</source><translation>请把 dataset.path 设为包含 {} 的文件夹。</translation></message>
<message><source>{}: no such file or folder</source><translation>{}：文件或文件夹不存在</translation></message>
<message><source>{}: no {} files here</source><translation>{}：这里没有 {} 文件</translation></message>
<message><source>Get the four files again: images and labels, of the training and of the test set.</source><translation>请重新获取四个文件：训练集和测试集的图片与标签。</translation></message>
<message><source>{}: not an IDX file: it begins with {}, not with 00 00 08 0{}</source><translation>{}：不是 IDX 文件：开头是 {}，而不是 00 00 08 0{}</translation></message>
<message><source>{}: its numbers are of IDX type {}, not bytes (08)</source><translation>{}：数值的 IDX 类型为 {}，不是字节（08）</translation></message>
<message><source>{}: contains labels; images are expected</source><translation>{}：应为图片，实际是标签</translation></message>
<message><source>{}: contains images; labels are expected</source><translation>{}：应为标签，实际是图片</translation></message>
<message><source>{}: an IDX file of {} dimensions; {} are expected</source><translation>{}：IDX 文件有 {} 维，应为 {} 维</translation></message>
<message><source>{}: cut short: it ends in its header</source><translation>{}：不完整：在文件头处中断</translation></message>
<message><source>{}: holds no samples</source><translation>{}：没有样本</translation></message>
<message><source>{}: cut short: its header promises {} samples and {} are there</source><translation>{}：不完整：文件头声明 {} 个样本，实际有 {} 个</translation></message>
<message><source>{}: longer than the {} samples that its header promises</source><translation>{}：比文件头声明的 {} 个样本更长</translation></message>
<message><source>{}: no {}-images-idx3-ubyte file here (nor .gz)</source><translation>{}：这里没有 {}-images-idx3-ubyte 文件（也没有 .gz）</translation></message>
<message><source>{}: no {}-labels-idx1-ubyte file here (nor .gz)</source><translation>{}：这里没有 {}-labels-idx1-ubyte 文件（也没有 .gz）</translation></message>
<message><source>{}: {} files of {} images and {} of labels: a part is missing</source><translation>{}：{} 个 {} 图片文件，{} 个标签文件：缺少一部分</translation></message>
<message><source>{} has {} images and {} has {} labels: they do not belong together</source><translation>{} 有 {} 张图片，{} 有 {} 个标签：二者不匹配</translation></message>
<message><source>{}: images of {} by {} pixels; 28 by 28 are expected</source><translation>{}：图片为 {} x {} 像素，应为 28 x 28</translation></message>
<message><source>{}: label {} of sample {} is beyond the {} classes</source><translation>{}：标签 {}（第 {} 个样本）超出了 {} 个类别</translation></message>
<message><source>dataset.kind: {} is not a data set of this version</source><translation>dataset.kind：{} 不是此版本支持的数据集</translation></message>
<message><source>`halftone datasets` lists those that it reads.</source><translation>`halftone datasets` 会列出支持的数据集。</translation></message>
<message><source>dataset.order takes a text file with one batch a line: sample indices from 0, separated by spaces.</source><translation>dataset.order 需要文本文件，每行一个批次：从 0 开始的样本编号，用空格分隔。</translation></message>
<message><source>{}: cannot be read</source><translation>{}：无法读取</translation></message>
<message><source>{}, line {}: "{}" is not a whole number</source><translation>{}，第 {} 行：“{}”不是整数</translation></message>
<message><source>{}, line {}: sample {} is outside 0 to {}</source><translation>{}，第 {} 行：样本 {} 不在 0 到 {} 之间</translation></message>
<message><source>batch_size: {}: {} samples do not fill one batch</source><translation>batch_size：{}：{} 个样本凑不满一个批次</translation></message>
<message><source>Take a smaller batch or more samples.</source><translation>请减小批量或增加样本。</translation></message>
<message><source>{}, line {}: a batch without samples</source><translation>{}，第 {} 行：批次中没有样本</translation></message>
<message><source>{}: no sample index in it</source><translation>{}：其中没有样本编号</translation></message>
<message><source>{}: the disk is full</source><translation>{}：磁盘已满</translation></message>
<message><source>Free some space, or give another folder.</source><translation>请腾出空间，或换一个文件夹。</translation></message>
<message><source>{}: cannot be written: {}</source><translation>{}：无法写入：{}</translation></message>
<message><source>Give a folder that can be written.</source><translation>请给出可写的文件夹。</translation></message>
<message><source>{}: the file is read-only</source><translation>{}：文件是只读的</translation></message>
<message><source>Allow writing to it (chmod u+w), or give another name.</source><translation>请允许写入该文件（chmod u+w），或给出另一个名称。</translation></message>
<message><source>there is no such field</source><translation>没有这个字段</translation></message>
<message><source>there is no such field; did you mean {}?</source><translation>没有这个字段；是否想写 {}？</translation></message>
<message><source>in a file, write {} inside the object {}</source><translation>在设置文件中，请把 {} 写在对象 {} 里</translation></message>
<message><source>use an object with fields</source><translation>请使用带字段的对象</translation></message>
<message><source>use an object with fields, for instance {}={}</source><translation>请使用带字段的对象，例如 {}={}</translation></message>
<message><source>use a whole number that fits into 64 bits</source><translation>请使用 64 位能表示的整数</translation></message>
<message><source>use a number that fits into 64 bits</source><translation>请使用 64 位浮点数能表示的数</translation></message>
<message><source>use a number, 0 or more, that fits into fp32</source><translation>请使用 fp32 能表示的不小于 0 的数</translation></message>
<message><source>Make the layers smaller.</source><translation>请减小各层的大小。</translation></message>
<message><source>The model's weights alone do not fit into the {} MiB of this machine.</source><translation>仅模型的权重就超出了本机的 {} MiB 内存。</translation></message>
<message><source>The model has {} parameters, which need {} MiB with their gradients and the optimizer's state; this machine has {} MiB.</source><translation>模型有 {} 个参数，连同梯度和优化器状态需要 {} MiB；本机有 {} MiB。</translation></message>
<message><source>Try a smaller model.</source><translation>请使用更小的模型。</translation></message>
<message><source>Try batch_size {}; accumulate makes up for the smaller batch.</source><translation>请将 batch_size 设为 {}；可以用 accumulate 弥补较小的批次。</translation></message>
<message><source>A step on {} samples needs {} MiB at the least; this machine has {} MiB.</source><translation>对 {} 个样本执行一步至少需要 {} MiB；本机有 {} MiB。</translation></message>
<message><source>use path=value, such as optimizer.lr=0.01</source><translation>请使用 路径=值，例如 optimizer.lr=0.01</translation></message>
<message><source>use true or false</source><translation>请使用 true 或 false</translation></message>
<message><source>use a whole number</source><translation>请使用整数</translation></message>
<message><source>use a whole number of steps, or auto</source><translation>请使用整数步数或 auto</translation></message>
<message><source>use a number</source><translation>请使用数</translation></message>
<message><source>use a text in quotes</source><translation>请使用带引号的文本</translation></message>
<message><source>use a path in quotes, or a list of them</source><translation>请使用带引号的路径，或其列表</translation></message>
<message><source>use an object of options</source><translation>请使用选项对象</translation></message>
<message><source>{}: the run history cannot be read or written: {}</source><translation>{}：无法读写运行历史：{}</translation></message>
<message><source>{}: not a step record</source><translation>{}：不是步记录</translation></message>
<message><source>Give the folder of a run.</source><translation>请给出一次运行的文件夹。</translation></message>
<message><source>{}: a step record of version {}; this program reads version {}</source><translation>{}：步记录的版本为 {}；本程序读取版本 {}</translation></message>
<message><source>Open it with the version of Halftone that wrote it.</source><translation>请用写入它的 Halftone 版本打开。</translation></message>
<message><source>{}: the header of the step record is damaged</source><translation>{}：步记录的文件头已损坏</translation></message>
<message><source>Restore the file from a copy; the settings and events of the run are kept beside it.</source><translation>请从备份恢复该文件；该运行的设置和事件保存在旁边。</translation></message>
<message><source>{}: not a precision</source><translation>{}：不是一种精度</translation></message>
<message><source>The presets command lists the precisions.</source><translation>presets 命令会列出各种精度。</translation></message>
<message><source>a field can be given only once</source><translation>一个字段只能给出一次</translation></message>
<message><source>settings are not nested that deep</source><translation>设置不会嵌套这么深</translation></message>
<message><source>settings are not that long</source><translation>设置不会这么长</translation></message>
<message><source>use an object of settings in braces</source><translation>请使用花括号中的设置对象</translation></message>
<message><source>not JSON: {}</source><translation>不是 JSON：{}</translation></message>
<message><source>use 0 with {}: a gradient penalty needs mlp or lenet</source><translation>{} 请使用 0：梯度惩罚只适用于 mlp 或 lenet</translation></message>
<message><source>use {} or {}</source><translation>请使用 {} 或 {}</translation></message>
<message><source>use {} or {}; did you mean {}?</source><translation>请使用 {} 或 {}；是否想写 {}？</translation></message>
<message><source>use a whole number from {} to {}</source><translation>请使用 {} 到 {} 之间的整数</translation></message>
<message><source>use a whole number, {} or more</source><translation>请使用不小于 {} 的整数</translation></message>
<message><source>use a number above 0</source><translation>请使用大于 0 的数</translation></message>
<message><source>use a number, 0 or more</source><translation>请使用不小于 0 的数</translation></message>
<message><source>use a number from 0 to below 1</source><translation>请使用 0 到 1（不含 1）之间的数</translation></message>
<message><source>remove the empty path from the list</source><translation>请去掉列表中的空路径</translation></message>
<message><source>use UTF-8 text without zero bytes</source><translation>请使用不含零字节的 UTF-8 文本</translation></message>
<message><source>choose the folder or the files of {}</source><translation>请选择 {} 的文件夹或文件</translation></message>
<message><source>use {} with the data set {}</source><translation>数据集 {1} 请使用 {0}</translation></message>
<message><source>TF32 needs an NVIDIA Ampere or newer GPU</source><translation>TF32 需要 Ampere 或更新的 NVIDIA GPU</translation></message>
<message><source>use fp32, as precision.weights is fp32</source><translation>请使用 fp32，因为 precision.weights 是 fp32</translation></message>
<message><source>use off or static: without master weights the unscaled gradients are fp16 too and underflow again</source><translation>请使用 off 或 static：没有主权重时，反缩放后的梯度也是 fp16，会再次下溢</translation></message>
<message><source>use a number above 0 that fits into fp32</source><translation>请使用大于 0 且 fp32 能表示的数</translation></message>
<message><source>use a number above 1</source><translation>请使用大于 1 的数</translation></message>
<message><source>use a number above 0 and below 1</source><translation>请使用大于 0 且小于 1 的数</translation></message>
<message><source>use 0 (no limit) or a positive number that fits into fp32</source><translation>请使用 0（不限）或 fp32 能表示的正数</translation></message>
<message><source>use a number up to scaler.max_scale, {}</source><translation>请使用不大于 scaler.max_scale（{}）的数</translation></message>
<message><source>use a number from scaler.min_scale, {}, to scaler.max_scale, {} (0 = no limit)</source><translation>请使用 scaler.min_scale（{}）到 scaler.max_scale（{}）之间的数（0 = 不限）</translation></message>
<message><source>use false, as optimizer.momentum is 0</source><translation>请使用 false，因为 optimizer.momentum 为 0</translation></message>
<message><source>use auto, cpu, cuda or cuda:N, the number of the GPU</source><translation>请使用 auto、cpu、cuda 或 cuda:N（GPU 编号）</translation></message>
<message><source>{}: the folder for the run is not empty</source><translation>{}：运行文件夹不是空的</translation></message>
<message><source>{}: the run history is of a later version of this program</source><translation>{}：运行历史来自更新版本的程序</translation></message>
<message><source>Use that version, or keep the runs in another folder.</source><translation>请使用该版本，或把运行保存到另一个文件夹。</translation></message>
<message><source>The run history was damaged and was rebuilt from the run folders; the old file is {}.</source><translation>运行历史已损坏，已根据各运行文件夹重建；旧文件为 {}。</translation></message>
<message><source>{}: the run history is damaged and cannot be rebuilt</source><translation>{}：运行历史已损坏，且无法重建</translation></message>
<message><source>Move the file away; the history is then built from the run folders.</source><translation>请移走该文件，随后会根据各运行的文件夹重建历史。</translation></message>
<message><source>{}: another program is using the run history</source><translation>{}：运行历史正被其他程序占用</translation></message>
<message><source>Close that program, or try again later.</source><translation>请关闭该程序，或稍后再试。</translation></message>
<message><source>{}: the disk failed while the run history was read or written: {}</source><translation>{}：读写运行历史时磁盘出错：{}</translation></message>
<message><source>Check whether the disk works, or give a folder on another one.</source><translation>请检查磁盘，或换用其他磁盘上的文件夹。</translation></message>
<message><source>{}: the folder of the run was deleted or moved while the run was training</source><translation>{}：训练期间，运行的文件夹被删除或移走</translation></message>
<message><source>Its steps are lost. Start the run again, and leave its folder alone while it trains.</source><translation>其中的步已丢失。请重新开始训练，训练期间不要改动其文件夹。</translation></message>
<message><source>Runs are kept in the temporary folder {} for now.</source><translation>运行暂时保存在临时文件夹 {} 中。</translation></message>
<message><source>{}: there is no such run in the history</source><translation>{}：历史中没有这个运行</translation></message>
<message><source>{}: not a valid safetensors file: {}</source><translation>{}：不是完好的 safetensors 文件：{}</translation></message>
<message><source>Save the weights again, or give another file.</source><translation>请重新保存权重，或给出另一个文件。</translation></message>
<message><source>Give a safetensors file.</source><translation>请给出 safetensors 文件。</translation></message>
<message><source>it became shorter while it was read</source><translation>读取过程中文件变短</translation></message>
<message><source>its header is nested too deeply</source><translation>文件头嵌套过深</translation></message>
<message><source>it names {} twice</source><translation>{} 出现了两次</translation></message>
<message><source>its header is not a JSON object</source><translation>文件头不是 JSON 对象</translation></message>
<message><source>its metadata is not an object</source><translation>元数据不是对象</translation></message>
<message><source>its metadata {} is not a text</source><translation>元数据 {} 不是文本</translation></message>
<message><source>tensor {} is not described by an object</source><translation>张量 {} 的描述不是对象</translation></message>
<message><source>tensor {} has no dtype</source><translation>张量 {} 没有 dtype</translation></message>
<message><source>tensor {} is of type {}, which is not supported</source><translation>张量 {} 的类型 {} 不受支持</translation></message>
<message><source>tensor {} is larger than any memory</source><translation>张量 {} 的大小超出任何内存</translation></message>
<message><source>tensor {} is outside the file</source><translation>张量 {} 超出文件范围</translation></message>
<message><source>tensor {} has {} bytes, which does not match its shape and type</source><translation>张量 {} 有 {} 字节，与其形状和类型不符</translation></message>
<message><source>tensor {} has no {}, a list of whole numbers</source><translation>张量 {} 缺少 {}（整数列表）</translation></message>
<message><source>tensor {} overlaps another</source><translation>张量 {} 与另一个重叠</translation></message>
<message><source>there is a hole before tensor {}</source><translation>张量 {} 之前有空洞</translation></message>
<message><source>it has bytes that belong to no tensor</source><translation>含有不属于任何张量的字节</translation></message>
<message><source>safetensors: {} cannot be used as the name of another tensor</source><translation>safetensors：{} 不能作为另一个张量的名称</translation></message>
<message><source>safetensors: tensor {} of type {} has {} bytes, which do not fit its shape</source><translation>safetensors：张量 {}（类型 {}）有 {} 字节，与其形状不符</translation></message>
<message><source>it ends after {} bytes</source><translation>文件只有 {} 字节</translation></message>
<message><source>it claims a header of {} bytes and has {} in all</source><translation>声明文件头 {} 字节，而全部只有 {} 字节</translation></message>
<message><source>{}: column {} of the step record has another type</source><translation>{}：步记录的列 {} 类型不同</translation></message>
<message><source>{}: the record is cut off: the file is too short for its {} rows</source><translation>{}：记录不完整：文件太短，放不下 {} 行</translation></message>
<message><source>Restore the file from a copy.</source><translation>请从备份恢复该文件。</translation></message>
<message><source>{}: cannot map the record: {}</source><translation>{}：无法映射记录：{}</translation></message>
<message><source>{}: cannot open the step record: {}</source><translation>{}：无法打开步记录：{}</translation></message>
<message><source>{}: not a step record: the file ends after {} bytes</source><translation>{}：不是步记录：文件只有 {} 字节</translation></message>
<message><source>{} steps from {} were requested; the step record has {}</source><translation>请求从第 {1} 步起的 {0} 步，而步记录只有 {2} 步</translation></message>
<message><source>{}: the disk is full, the record cannot grow</source><translation>{}：磁盘已满，记录无法增长</translation></message>
<message><source>{}: another program removed, cut short or overwrote the record while the run was writing it</source><translation>{}：训练写入期间，记录被其他程序删除、截断或覆盖</translation></message>
<message><source>The steps in it are lost. Start the run again, and leave its folder alone while it trains.</source><translation>其中的步已丢失。请重新开始训练，训练期间不要改动其文件夹。</translation></message>
<message><source>{}: the record was cut short by another program</source><translation>{}：记录被其他程序截断</translation></message>
<message><source>Free some space, or give another folder for the run.</source><translation>请腾出空间，或为运行换一个文件夹。</translation></message>
<message><source>{}: cannot write the record: {}</source><translation>{}：无法写入记录：{}</translation></message>
<message><source>Give another folder for the run.</source><translation>请为运行换一个文件夹。</translation></message>
<message><source>No CUDA: this build is for the CPU only.</source><translation>没有 CUDA：此版本仅用于 CPU。</translation></message>
<message><source>No CUDA: {}.</source><translation>没有 CUDA：{}。</translation></message>
<message><source>CUDA devices: {}.</source><translation>CUDA 设备：{}。</translation></message>
<message><source>The processor multiplies bf16 matrices natively (AMX), and activations take half the memory.</source><translation>处理器原生支持 bf16 矩阵乘法（AMX），激活值占用的内存减半。</translation></message>
<message><source>The processor multiplies bf16 natively (AVX512_BF16), and activations take half the memory.</source><translation>处理器原生支持 bf16 乘法（AVX512_BF16），激活值占用的内存减半。</translation></message>
<message><source>No time saved: the processor has no bf16 instructions (AVX512_BF16 or AMX), so values are converted to fp32 and back. The numerics are the same, and activations take half the memory.</source><translation>不省时间：处理器没有 bf16 指令（AVX512_BF16 或 AMX），数值要转换为 fp32 再转回。数值结果相同，激活值占用的内存减半。</translation></message>
<message><source>No time saved: the processor's fp16 instructions (AVX512_FP16) sum in fp16. Sums are kept in fp32, as on a GPU, so values are converted to fp32 and back. Activations take half the memory.</source><translation>不省时间：处理器有 fp16 指令（AVX512_FP16），但用 fp16 累加；这里与 GPU 一样用 fp32 累加，数值要转换为 fp32 再转回。激活值占用的内存减半。</translation></message>
<message><source>No time saved: the processor has no fp16 arithmetic, so values are converted to fp32 and back. The numerics are those of a GPU, and activations take half the memory.</source><translation>不省时间：处理器没有 fp16 运算，数值要转换为 fp32 再转回。数值结果与 GPU 相同，激活值占用的内存减半。</translation></message>
<message><source>The baseline: every processor computes in fp32.</source><translation>基准：任何处理器都能用 fp32 计算。</translation></message>
<message><source>TF32 is a mode of NVIDIA Tensor Cores and needs CUDA; a CPU does not have it.</source><translation>TF32 是 NVIDIA Tensor Core 的模式，需要 CUDA；CPU 没有。</translation></message>
<message><source>Shows what breaks: small updates vanish without fp32 master weights.</source><translation>用于展示会出什么问题：没有 fp32 主权重，微小的更新会消失。</translation></message>
<message><source>The device {} cannot be used: {}.</source><translation>设备 {} 无法使用：{}。</translation></message>
<message><source>Set device to cpu or auto.</source><translation>请把 device 设为 cpu 或 auto。</translation></message>
<message><source>The loss is {} at step {}: a value of the forward pass is not finite.</source><translation>损失为 {}（第 {} 步）：前向传播中出现了非有限的值。</translation></message>
<message><source>There is too little memory to capture the step as a CUDA graph, so its kernels are launched one by one, which slows small models down. A smaller batch_size leaves room.</source><translation>内存不足，无法把一步捕获为 CUDA 图，因此逐个启动内核，小模型会因此变慢。较小的 batch_size 可以留出空间。</translation></message>
<message><source>Evaluations cannot be captured as a CUDA graph, so their kernels are launched one by one, which slows small models down: {}.</source><translation>无法把评估捕获为 CUDA 图，因此逐个启动内核，小模型会因此变慢：{}。</translation></message>
<message><source>Evaluations are no longer captured as a CUDA graph, because the memory of the graph was needed again and again. Their kernels are launched one by one, which slows small models down. A smaller batch_size leaves room.</source><translation>评估不再捕获为 CUDA 图，因为该图占用的内存一再被需要。其内核改为逐个启动，小模型会因此变慢。较小的 batch_size 可以留出空间。</translation></message>
<message><source>The step cannot be captured as a CUDA graph, so its kernels are launched one by one, which slows small models down: {}.</source><translation>无法把一步捕获为 CUDA 图，因此逐个启动内核，小模型会因此变慢：{}。</translation></message>
<message><source>The forward pass of a convolution in {}, input {}, weights {}, groups {}, is not computed by cuDNN but by plain loops, many times slower. Make its channels multiples of 8, or train in another precision.</source><translation>一个 {} 卷积的前向传播（输入 {}，权重 {}，分组 {}）不由 cuDNN 计算，而由普通循环计算，慢很多倍。请把通道数设为 8 的倍数，或换一种精度训练。</translation></message>
<message><source>The input gradient of a convolution in {}, input {}, weights {}, groups {}, is not computed by cuDNN but by plain loops, many times slower. Make its channels multiples of 8, or train in another precision.</source><translation>一个 {} 卷积的输入梯度（输入 {}，权重 {}，分组 {}）不由 cuDNN 计算，而由普通循环计算，慢很多倍。请把通道数设为 8 的倍数，或换一种精度训练。</translation></message>
<message><source>The weight gradient of a convolution in {}, input {}, weights {}, groups {}, is not computed by cuDNN but by plain loops, many times slower. Make its channels multiples of 8, or train in another precision.</source><translation>一个 {} 卷积的权重梯度（输入 {}，权重 {}，分组 {}）不由 cuDNN 计算，而由普通循环计算，慢很多倍。请把通道数设为 8 的倍数，或换一种精度训练。</translation></message>
<message><source>cuDNN failed to prepare the forward pass of a convolution in {}, input {}, weights {}, groups {}, so plain loops compute it, many times slower: {}</source><translation>cuDNN 未能准备一个 {} 卷积的前向传播（输入 {}，权重 {}，分组 {}），改由普通循环计算，慢很多倍：{}</translation></message>
<message><source>cuDNN failed to prepare the input gradient of a convolution in {}, input {}, weights {}, groups {}, so plain loops compute it, many times slower: {}</source><translation>cuDNN 未能准备一个 {} 卷积的输入梯度（输入 {}，权重 {}，分组 {}），改由普通循环计算，慢很多倍：{}</translation></message>
<message><source>cuDNN failed to prepare the weight gradient of a convolution in {}, input {}, weights {}, groups {}, so plain loops compute it, many times slower: {}</source><translation>cuDNN 未能准备一个 {} 卷积的权重梯度（输入 {}，权重 {}，分组 {}），改由普通循环计算，慢很多倍：{}</translation></message>
<message><source>cuDNN has no fused kernel for attention in {}, queries {}, values {}, on this device: it is computed as matrix products and a softmax, slower and with all scores in memory.</source><translation>在此设备上 cuDNN 没有 {} 注意力的融合内核（查询 {}，值 {}）：它由矩阵乘积和 softmax 组合而成，更慢，并且全部分数都占用内存。</translation></message>
<message><source>cuDNN failed to prepare attention in {}, queries {}, values {}, so it is computed as matrix products and a softmax, slower and with all scores in memory: {}</source><translation>cuDNN 未能准备 {} 注意力（查询 {}，值 {}），改由矩阵乘积和 softmax 组合计算，更慢，并且全部分数都占用内存：{}</translation></message>
<message><source>cuDNN has no fused kernel for the gradient of attention in {}, queries {}, values {}, on this device: it is computed as matrix products and a softmax, slower and with all scores in memory.</source><translation>在此设备上 cuDNN 没有 {} 注意力梯度的融合内核（查询 {}，值 {}）：它由矩阵乘积和 softmax 组合而成，更慢，并且全部分数都占用内存。</translation></message>
<message><source>cuDNN failed to prepare the gradient of attention in {}, queries {}, values {}, so it is computed as matrix products and a softmax, slower and with all scores in memory: {}</source><translation>cuDNN 未能准备 {} 注意力梯度（查询 {}，值 {}），改由矩阵乘积和 softmax 组合计算，更慢，并且全部分数都占用内存：{}</translation></message>
<message><source>{} % of the weight updates vanish: they are smaller than half a unit in the last place of the 16-bit weights. Master weights in fp32 would keep them.</source><translation>{} % 的权重更新消失：它们小于 16 位权重最低位的一半。fp32 主权重可以保留它们。</translation></message>
<message><source>The loss scale fell to 0 at step {}: every step overflows.</source><translation>缩放因子在第 {} 步降到 0：每一步都溢出。</translation></message>
<message><source>Lower the learning rate, or train in bf16.</source><translation>请降低学习率，或用 bf16 训练。</translation></message>
<message><source>The loss scale fell below its minimum of {} at step {}: the gradients overflow even there.</source><translation>缩放因子低于最小值 {}（第 {} 步）：即使在最小值，梯度仍然溢出。</translation></message>
<message><source>Lower scaler.min_scale or the learning rate, or train in bf16.</source><translation>请降低 scaler.min_scale 或学习率，或改用 bf16 训练。</translation></message>
<message><source>The device failed: {}.</source><translation>设备出错：{}。</translation></message>
<message><source>Training cannot continue: {}.</source><translation>训练无法继续：{}。</translation></message>
<message><source>A verdict needs more steps and a test evaluation of both runs.</source><translation>还需要更多的步数，以及两次运行各一次测试评估。</translation></message>
<message><source>After {} steps the losses are {} apart, step-to-step noise {}; a verdict needs a test evaluation of both runs.</source><translation>{} 步后两者损失相差 {}，步间噪声为 {}；还需要两次运行各一次测试评估。</translation></message>
<message><source>Losses {} apart, step-to-step noise {} (1 seed).</source><translation>损失相差 {}，步间噪声为 {}（1 个种子）。</translation></message>
<message><source>Losses {} apart, steadily but only {} % of the loss (1 seed).</source><translation>损失稳定相差 {}，但只占损失的 {} %（1 个种子）。</translation></message>
<message><source>Test accuracies {} points apart, seed noise {} points.</source><translation>测试准确率相差 {} 个百分点，种子间噪声为 {} 个百分点。</translation></message>
<message><source>Most updates ({} %) are smaller than half a unit in the last place of the weights and vanish. Master weights in fp32 would keep them.</source><translation>大多数更新（{} %）小于权重最低位的一半而消失。fp32 主权重可以保留它们。</translation></message>
<message><source>Most updates ({} %) are smaller than half a unit in the last place of the weights and vanish: losses {} apart, step-to-step noise {}. Master weights in fp32 would keep them.</source><translation>大多数更新（{} %）小于权重最低位的一半而消失：损失相差 {}，步间噪声为 {}。fp32 主权重可以保留它们。</translation></message>
<message><source>{} parted at step {}.</source><translation>{} 从第 {} 步起与基准分离。</translation></message>
<message><source>Its loss has not been a finite number since then.</source><translation>此后它的损失不再是有限的数。</translation></message>
<message><source>No difference beyond seed noise.</source><translation>差异未超出种子噪声。</translation></message>
<message><source>{} is better by {} points.</source><translation>{} 高出 {} 个百分点。</translation></message>
<message><source>{} is worse by {} points.</source><translation>{} 低 {} 个百分点。</translation></message>
<message><source>Same result so far.</source><translation>目前结果相同。</translation></message>
<message><source>{} has the lower loss since step {}.</source><translation>{} 的损失更低（自第 {} 步起）。</translation></message>
<message><source>Both runs diverged ({} at steps {}, {}).</source><translation>两次运行都已发散（{}，第 {}、{} 步）。</translation></message>
<message><source>Their losses have not been finite numbers since then.</source><translation>此后两者的损失都不再是有限的数。</translation></message>
<message><source>Too early to say.</source><translation>为时尚早。</translation></message>
<message><source>There is no model called {}.</source><translation>没有名为 {} 的模型。</translation></message>
<message><source>LeNet needs images of at least 16 x 16 pixels, not {} x {}.</source><translation>LeNet 需要至少 16 x 16 像素的图片，而不是 {} x {}。</translation></message>
<message><source>{} does not fit the model:{}.</source><translation>{} 与模型不匹配：{}。</translation></message>
<message><source>Use weights of the same model, with PyTorch's names.</source><translation>请使用同一模型、采用 PyTorch 名称的权重。</translation></message>
<message><source>There is no folder to keep the run in.</source><translation>没有可保存运行的文件夹。</translation></message>
<message><source>Choose one that you may write to.</source><translation>请选择一个可写的文件夹。</translation></message>
<message><source>{}: cannot be opened.</source><translation>{}：无法打开。</translation></message>
<message><source>Check the name and that you may read it.</source><translation>请检查文件名和读取权限。</translation></message>
<message><source>{}: {} = {} is not valid.</source><translation>{}：{} = {} 无效。</translation></message>
<message><source>{}: cannot be written.</source><translation>{}：无法写入。</translation></message>
<message><source>Choose a folder that you may write to.</source><translation>请选择一个可写的文件夹。</translation></message>
<message><source>{}: no training set of {} here</source><translation>{}：这里没有 {} 的训练集</translation></message>
<message><source>{}: no test set of {} here</source><translation>{}：这里没有 {} 的测试集</translation></message>
<message><source>{} has no options</source><translation>{} 没有选项</translation></message>
<message><source>there is no such option of {}; it has {}</source><translation>{} 没有这个选项；可用的有 {}</translation></message>
<message><source>There is no run {}.</source><translation>没有名为 {} 的运行。</translation></message>
<message><source>Try a smaller batch.</source><translation>请用更小的批量。</translation></message>
<message><source>TF32</source><translation>TF32</translation></message>
<message><source>fp32 with matrix products in TensorFloat-32: the range of fp32 and 10 fraction bits. Needs an NVIDIA Ampere or newer GPU.</source><translation>fp32，其中矩阵乘法用 TensorFloat-32 计算：范围与 fp32 相同，尾数 10 位。需要 Ampere 或更新的 NVIDIA GPU。</translation></message>
<message><source>TF32 needs an NVIDIA Ampere or newer GPU.</source><translation>TF32 需要 Ampere 或更新的 NVIDIA GPU。</translation></message>
<message><source>Set the precision to fp32, amp-fp16 or amp-bf16.</source><translation>请把精度设为 fp32、amp-fp16 或 amp-bf16。</translation></message>
<message><source>Set the precision to fp32 or amp-fp16.</source><translation>请把精度设为 fp32 或 amp-fp16。</translation></message>
<message><source>BF16 needs an NVIDIA Ampere or newer GPU: on a {} card it would be computed in plain loops, which take seconds a step.</source><translation>BF16 需要 Ampere 或更新的 NVIDIA GPU：在 {} 显卡上只能用普通循环计算，每步要花好几秒。</translation></message>
<message><source>There is no device called {}; there are cpu, cuda and cuda:N.</source><translation>没有名为 {} 的设备；可用的是 cpu、cuda 和 cuda:N。</translation></message>
<message><source>The device {} cannot be used: this machine has {} CUDA devices, the first of them cuda:0.</source><translation>设备 {} 无法使用：本机有 {} 个 CUDA 设备，第一个是 cuda:0。</translation></message>
<message><source>Cannot allocate memory on {}: {}.</source><translation>无法在 {} 上分配内存：{}。</translation></message>
<message><source>A library of the GPU is out of memory ({}); in use: {}.</source><translation>GPU 库内存不足（{}）；已使用：{}。</translation></message>
<message><source>Out of memory asking for {} MiB; in use: {}.</source><translation>申请 {} MiB 时内存不足；已使用：{}。</translation></message>
<message><source>No Tensor Cores: fp16 saves only memory. CUDA 13 does not support this GPU any more.</source><translation>没有 Tensor Core：fp16 只节省内存。CUDA 13 已不再支持。</translation></message>
<message><source>The first Tensor Cores, for fp16 only. CUDA 13 does not support this GPU any more.</source><translation>第一代 Tensor Core，只支持 fp16。CUDA 13 已不再支持。</translation></message>
<message><source>Tensor Cores for fp16, so AMP FP16 pays off. bf16 is rejected: no library supports it here. GTX 16 cards have no Tensor Cores.</source><translation>有 fp16 的 Tensor Core，因此 AMP FP16 划算；没有支持 bf16 的库，因此会拒绝 bf16。GTX 16 系列没有 Tensor Core。</translation></message>
<message><source>Tensor Cores for fp16, bf16 and TF32.</source><translation>有 fp16、bf16 和 TF32 的 Tensor Core。</translation></message>
<message><source>Tensor Cores for fp16, bf16 and TF32. GeForce cards sum fp16 products in fp32 at half the rate.</source><translation>有 fp16、bf16 和 TF32 的 Tensor Core；GeForce 卡以 fp32 累加 fp16 乘积时速度减半。</translation></message>
<message><source>Tensor Cores for fp16, bf16 and TF32, about twice the rate of Ampere.</source><translation>有 fp16、bf16 和 TF32 的 Tensor Core，速度约为 Ampere 的两倍。</translation></message>
<message><source>Tensor Cores for fp16, bf16 and TF32. A program without code for it has its kernels compiled by the driver at the first start.</source><translation>有 fp16、bf16 和 TF32 的 Tensor Core。若程序未含其机器码，首次启动时由驱动程序编译内核。</translation></message>
<message><source>{}: Tensor Cores multiply it at a multiple of the fp32 rate.</source><translation>{}：Tensor Core 以数倍于 fp32 的速度做乘法。</translation></message>
<message><source>{}: no Tensor Cores for it, so no time is saved.</source><translation>{}：没有对应的 Tensor Core，因此不节省时间。</translation></message>
<message><source>The baseline: full fp32 arithmetic, TF32 switched off.</source><translation>基准：完整的 fp32 运算，TF32 已关闭。</translation></message>
<message><source>The device {} cannot be used: there is no {}.</source><translation>设备 {} 无法使用：找不到 {}。</translation></message>
<message><source>The last steps are lost: {}.</source><translation>最后几步已丢失：{}。</translation></message>
<message><source>Two matrix products around a softmax; its scores and sums stay in fp32 inside.</source><translation>两次矩阵乘，中间是 softmax；内部的注意力分数和累加和保持 fp32。</translation></message>
<message><source>The fused kernel, called directly: products in 16 bits; scores, sums and logsumexp in fp32.</source><translation>以自己的名称直接调用的融合内核：用 16 位相乘，注意力分数、累加和与 logsumexp 保持 fp32。</translation></message>
<message><source>Not on the list: reads 16 bits, computes its statistics in fp32 and keeps them there.</source><translation>不在列表中：可读入 16 位数据，统计量用 fp32 计算并保存。</translation></message>
<message><source>batch_norm, addition and relu in one pass over memory, rounded once.</source><translation>批归一化、加法和 relu 一次遍历内存完成，只舍入一次。</translation></message>
<message><source>Not on the autocast list: runs in the wider of its inputs' types.</source><translation>不在自动混合精度列表中：按两个输入中较宽的类型计算。</translation></message>
<message><source>A power soon overflows fp16: 256 squared is already 65536.</source><translation>幂很快就在 fp16 中溢出：256 的平方已是 65536。</translation></message>
<message><source>Both sides go to the wider type, so that an fp32 side loses nothing.</source><translation>两边都转换为较宽的类型，使 fp32 的一边不损失精度。</translation></message>
<message><source>A cast uses the given type; its gradient is cast back to the type of x.</source><translation>类型转换按指定的类型进行；梯度再转换回 x 原来的类型。</translation></message>
<message><source>Compares in the wider of the two types; the result is bool.</source><translation>按两个类型中较宽的比较，结果是 bool。</translation></message>
<message><source>Chooses values; mixed types promote.</source><translation>只是选取数值；类型不同时提升为较宽的类型。</translation></message>
<message><source>Matrix products in disguise: fast in 16 bits, summed in fp32.</source><translation>卷积本质上是矩阵乘：16 位速度快，用 fp32 累加。</translation></message>
<message><source>The gradient of a convolution, used forward: fast in 16 bits, summed in fp32.</source><translation>即把卷积的梯度运算用作前向：16 位速度快，用 fp32 累加。</translation></message>
<message><source>cuDNN's convolution, called directly: products in 16 bits, summed in fp32.</source><translation>以 cuDNN 自己的名称直接调用的卷积：用 16 位相乘，用 fp32 累加。</translation></message>
<message><source>cuDNN's gradient of a convolution, used forward: products in 16 bits, summed in fp32.</source><translation>cuDNN 的卷积梯度运算，用作前向：用 16 位相乘，用 fp32 累加。</translation></message>
<message><source>A count or an answer is a whole number: there is no precision to lose.</source><translation>计数和判断的结果是整数，不存在精度损失。</translation></message>
<message><source>A loss condenses many numbers into one, so it is computed in fp32.</source><translation>损失把许多数汇总成一个数，因此用 fp32 计算。</translation></message>
<message><source>Not on the list itself: the log_softmax inside writes fp32, so the loss is fp32.</source><translation>自身不在列表中：内部的 log_softmax 输出 fp32，因此损失也是 fp32。</translation></message>
<message><source>Powers of differences and their sum soon overflow fp16.</source><translation>差的幂及其累加和在 fp16 中很快溢出。</translation></message>
<message><source>Near points differ in digits that fp16 does not have.</source><translation>相近的点只在 fp16 无法表示的低位上有差别。</translation></message>
<message><source>Not on the list: keeps values or drops them in its input's type.</source><translation>不在列表中：按输入的类型保留或丢弃数值。</translation></message>
<message><source>Matrix products in another notation: cast once, then as bmm.</source><translation>矩阵乘的另一种写法：只转换一次类型，之后同 bmm。</translation></message>
<message><source>exp overflows fp16 above 11.09.</source><translation>输入大于 11.09 时，exp 在 fp16 中溢出。</translation></message>
<message><source>Its slope grows without bound towards its pole, so it runs in fp32.</source><translation>越靠近极点导数越大，没有上限，因此用 fp32 计算。</translation></message>
<message><source>Its slope 1/x overflows fp16 for small x.</source><translation>x 很小时，导数 1/x 在 fp16 中溢出。</translation></message>
<message><source>Not on the autocast list: runs in its input's type.</source><translation>不在自动混合精度列表中：按输入的类型计算。</translation></message>
<message><source>Not on the list: it copies rows of its table, so an fp32 table gives fp32.</source><translation>不在列表中：只复制查找表的行，表是 fp32，结果就是 fp32。</translation></message>
<message><source>It chooses one of its inputs: nothing is computed, so no precision is lost.</source><translation>只选取某个输入值，不做计算，因此不损失精度。</translation></message>
<message><source>The result is an index, which has no precision to lose.</source><translation>结果是整数索引，不存在精度损失。</translation></message>
<message><source>Copies values: nothing is lost in its input's type.</source><translation>只复制数值：保持输入的类型，不损失精度。</translation></message>
<message><source>Boxes are pixels: 16 bits would move them, and areas overflow fp16, so it runs in fp32.</source><translation>边框以像素为单位：16 位会使其移动，面积会超出 fp16，因此按 fp32 计算。</translation></message>
<message><source>Always fp32, for maps of any type: bf16 would move anchors by pixels.</source><translation>无论特征图是什么类型都用 fp32：bf16 会使锚框移动数个像素。</translation></message>
<message><source>Not on the list: weighs pixels in fp32 and rounds to its input's type, with RoIs in fp32.</source><translation>不在列表中：以 fp32 对像素加权，再舍入到输入的类型；RoI 保持 fp32。</translation></message>
<message><source>Reads and writes whole numbers, which have no precision to lose.</source><translation>读写的都是整数，不存在精度损失。</translation></message>
<message><source>Not on the list: both sides must have one type, and the sum is rounded to it once.</source><translation>不在列表中：两边类型必须相同，累加和只舍入一次。</translation></message>
<message><source>Needs one type: both sides go to the wider, so that an fp32 side loses nothing.</source><translation>要求类型一致：两边都转换为较宽的类型，使 fp32 的一边不损失精度。</translation></message>
<message><source>As layer_norm: its sums of squares need the range of fp32 and its deviations the digits.</source><translation>与 layer_norm 相同：平方和需要 fp32 的范围，偏差需要 fp32 的精度。</translation></message>
<message><source>In-place forms are never cast: both sides must have one type, under autocast too.</source><translation>原地形式从不转换类型：即使在自动混合精度下，两边类型也必须相同。</translation></message>
<message><source>In-place forms are never on the list: the left side keeps its type.</source><translation>原地形式都不在列表中：左边保持自己的类型。</translation></message>
<message><source>A copy takes the type of its destination.</source><translation>复制时转换为目标的类型。</translation></message>
<message><source>Not on the list, as batch_norm: reads 16 bits and computes its statistics in fp32.</source><translation>与 batch_norm 一样不在列表中：可读入 16 位数据，统计量用 fp32 计算。</translation></message>
<message><source>Sums of squares overflow fp16, and small deviations are lost in its rounding: fp32 throughout.</source><translation>平方和会在 fp16 中溢出，微小的偏差又会被舍入淹没，因此全程用 fp32。</translation></message>
<message><source>Sums of exp() overflow fp16, so it runs in fp32.</source><translation>exp() 之和在 fp16 中溢出，因此用 fp32 计算。</translation></message>
<message><source>The square of an error of 256 overflows fp16, so the loss is fp32.</source><translation>误差达到 256 时，其平方就在 fp16 中溢出，因此损失用 fp32 计算。</translation></message>
<message><source>The safe form: the sigmoid is inside and all of it is fp32, so no probability is rounded to 0 or 1.</source><translation>安全的形式：sigmoid 包含在内且全部用 fp32 计算，概率不会被舍入为 0 或 1。</translation></message>
<message><source>Its gradient 1/x must fit the type of x: an fp16 x would make it infinite.</source><translation>梯度 1/x 必须能用 x 的类型表示：x 为 fp16 时它会变成无穷大。</translation></message>
<message><source>Not on the list: keeps its input's type.</source><translation>不在列表中：保持输入的类型。</translation></message>
<message><source>Not on the list: both sides must have one type, under autocast too.</source><translation>不在列表中：即使在自动混合精度下，两边类型也必须相同。</translation></message>
<message><source>Most of a network's arithmetic is here: 16-bit hardware does it fast and sums in fp32.</source><translation>网络的大部分计算量在此：16 位硬件算得快，并用 fp32 累加。</translation></message>
<message><source>A batch of matrix products: as mm.</source><translation>成批的矩阵乘：同 mm。</translation></message>
<message><source>A matrix product under another name: as mm.</source><translation>换了名称仍是矩阵乘：同 mm。</translation></message>
<message><source>A matrix product with an addition that costs nothing more: as mm.</source><translation>矩阵乘附带一次加法，没有额外开销：同 mm。</translation></message>
<message><source>A matrix times a vector: as mm.</source><translation>矩阵乘向量：同 mm。</translation></message>
<message><source>A matrix product: 16-bit hardware does it at twice the rate or more and sums in fp32.</source><translation>矩阵乘：16 位硬件的速度至少快一倍，并用 fp32 累加。</translation></message>
<message><source>Matrix products one after the other: as mm.</source><translation>连续的矩阵乘：同 mm。</translation></message>
<message><source>Not on the list: squares and sums are fp32 inside, and the result has its input's type.</source><translation>不在列表中：内部的平方与累加用 fp32，结果为输入的类型。</translation></message>
<message><source>Not on the list: adds in fp32 and rounds the result to its input's type.</source><translation>不在列表中：用 fp32 累加，结果舍入为输入的类型。</translation></message>
<message><source>Squares overflow fp16 from 256 on, so the norm is written in fp32.</source><translation>从 256 起，平方就在 fp16 中溢出，因此范数以 fp32 输出。</translation></message>
<message><source>Powers and their sum soon overflow fp16, so it reads fp16 and writes fp32.</source><translation>幂及其累加和在 fp16 中很快溢出，因此读入 fp16，输出 fp32。</translation></message>
<message><source>It chooses among its inputs: nothing is computed, so no precision is lost.</source><translation>只在输入值中选取，不做计算，因此不损失精度。</translation></message>
<message><source>Chooses values: nothing is lost in its input's type.</source><translation>只选取数值：保持输入的类型，不损失精度。</translation></message>
<message><source>Not on the list: adds in fp32 and rounds to its input's type.</source><translation>不在列表中：用 fp32 累加，再舍入为输入的类型。</translation></message>
<message><source>A batch of matrix products with an addition: as addmm.</source><translation>成批的矩阵乘加：同 addmm。</translation></message>
<message><source>A batch of matrix products in one long sum, kept in fp32: as addmm.</source><translation>成批的矩阵乘合成一个长累加和，用 fp32 保存：同 addmm。</translation></message>
<message><source>A matrix times a vector with an addition: as addmm.</source><translation>矩阵乘向量再加法：同 addmm。</translation></message>
<message><source>A product of a column and a row, listed with the matrix products; outer, which only multiplies, is not.</source><translation>列向量乘行向量，与矩阵乘同列；只做乘法的 outer 则不在列表中。</translation></message>
<message><source>Matrix products at every step; input, states and weights go to 16 bits at once, as in cuDNN.</source><translation>每个时间步都是矩阵乘；输入、状态和权重一次全部转换为 16 位，与 cuDNN 相同。</translation></message>
<message><source>Two matrix products; the few operations on the gates stay in fp32.</source><translation>两次矩阵乘；门控上的少量运算保持 fp32。</translation></message>
<message><source>Gates that come from 16-bit matrix products stay in 16 bits; the arithmetic on them is fp32.</source><translation>门控值来自 16 位矩阵乘，仍保持 16 位；在其上的运算用 fp32。</translation></message>
<message><source>A sum of many fp16 values soon passes 65504, so it is written in fp32.</source><translation>许多 fp16 数之和很快超过 65504，因此以 fp32 输出。</translation></message>
<message><source>A running sum outgrows the range and the precision of fp16.</source><translation>累加和越来越大，会超出 fp16 的范围和精度。</translation></message>
<message><source>Products overflow and underflow fp16, so it reads fp16 and writes fp32.</source><translation>乘积在 fp16 中既会溢出也会下溢，因此读入 fp16，输出 fp32。</translation></message>
<message><source>A product of many numbers soon overflows or underflows fp16.</source><translation>许多数的乘积在 fp16 中很快溢出或下溢。</translation></message>
<message><source>Norms are sums of squares, and eps = 1e-8 is zero in fp16.</source><translation>范数是平方和，而且 eps = 1e-8 在 fp16 中为零。</translation></message>
<message><source>Not on the list itself: the norm inside is fp32, and so is the quotient.</source><translation>自身不在列表中：内部的范数是 fp32，因此商也是 fp32。</translation></message>
<message><source>Its norms are sums of powers, which soon overflow fp16.</source><translation>范数是幂之和，在 fp16 中很快溢出。</translation></message>
<message><source>A view keeps the type.</source><translation>视图的类型不变。</translation></message>
<message><source>Not on the list: runs in the widest of its inputs' types.</source><translation>不在列表中：按输入中最宽的类型计算。</translation></message>
<message><source>exp() overflows fp16 above 11.09, so it computes and writes fp32.</source><translation>输入大于 11.09 时，exp() 在 fp16 中溢出，因此计算和输出都用 fp32。</translation></message>
<message><source>Sums of exp() overflow fp16, so it computes and writes fp32.</source><translation>exp() 之和在 fp16 中溢出，因此计算和输出都用 fp32。</translation></message>
<message><source>It is softmax of -x, not on the list itself, and follows softmax.</source><translation>即 -x 的 softmax，自身不在列表中：按 softmax 处理。</translation></message>
<message><source>Both sides go to the wider type: an fp32 side loses nothing, unlike in a matrix product.</source><translation>两边都转换为较宽的类型：与矩阵乘不同，fp32 的一边不损失精度。</translation></message>
<message><source>Products of three factors overflow fp16 sooner: all go to the widest of their types.</source><translation>三个因子的乘积更容易在 fp16 中溢出：全部转换为其中最宽的类型。</translation></message>
<message><source>For small x its slope overflows fp16, so it runs in fp32.</source><translation>x 很小时导数超出 fp16 的范围，因此用 fp32 计算。</translation></message>
<message><source>256 squared already overflows fp16.</source><translation>256 的平方已超出 fp16 的范围。</translation></message>
<message><source>Many dot products at once: a matrix product in disguise.</source><translation>一次计算许多点积，本质上是矩阵乘。</translation></message>
<message><source>Differences of products lose digits: both sides go to the wider type.</source><translation>乘积相减会丢失有效数字：两边都转换为较宽的类型。</translation></message>
<message><source>Not on the autocast list, though cross is: keeps its inputs' type.</source><translation>cross 在自动混合精度列表中，它却不在：保持输入的类型。</translation></message>
<message><source>Not on the list: one product an element and no sum; mixed inputs promote.</source><translation>不在列表中：每个元素只有一次乘法，没有累加；类型不同时提升为较宽的类型。</translation></message>
<message><source>Moves nothing, so it keeps the type.</source><translation>不移动数据，类型不变。</translation></message>
<message><source>A copy keeps the type.</source><translation>副本的类型不变。</translation></message>
<message><source>Not on the CUDA list: mixed inputs promote as in any element-wise op.</source><translation>不在 CUDA 的列表中：类型不同时提升为较宽的类型，与逐元素算子相同。</translation></message>
<message><source>The exp inside overflows fp16 above 11.09.</source><translation>输入大于 11.09 时，内部的 exp 在 fp16 中溢出。</translation></message>
<message><source>Tests values and returns bool: there is no arithmetic to cast for.</source><translation>只判断数值并返回 bool：没有需要转换类型的计算。</translation></message>
<message><source>Not on the autocast list: runs in its input's type, which must be fp32 or fp64.</source><translation>不在自动混合精度列表中：按输入的类型计算，必须是 fp32 或 fp64。</translation></message>
<message><source>Not on the list itself: the logarithm and the square inside are fp32, so the loss is fp32.</source><translation>自身不在列表中：内部的对数和平方是 fp32，因此损失也是 fp32。</translation></message>
<message><source>Its sums of squares soon overflow fp16.</source><translation>平方和在 fp16 中很快溢出。</translation></message>
<message><source>Its sums of powers soon overflow fp16.</source><translation>幂之和在 fp16 中很快溢出。</translation></message>
<message><source>Not on the list itself: the sum over the labels inside writes fp32, so the loss is fp32.</source><translation>自身不在列表中：内部对标签的求和输出 fp32，因此损失也是 fp32。</translation></message>
<message><source>Listed with the layers that have weights: its weight is cast to 16 bits along with x.</source><translation>与带权重的各层列在一起：权重和 x 一起转换为 16 位。</translation></message>
<message><source>Not on the list itself: number / x is reciprocal(x) * number, and the reciprocal is fp32.</source><translation>自身不在列表中：number / x 即 reciprocal(x) * number，而倒数是 fp32。</translation></message>
<message><source>Not on the list itself: number ** x is pow, which is fp32.</source><translation>自身不在列表中：number ** x 即 pow，用 fp32 计算。</translation></message>
<message><source>It is infinite at -1 and 1, and its slope near them magnifies any rounding of x.</source><translation>在 -1 和 1 处为无穷大，其附近的导数会放大 x 的任何舍入误差。</translation></message>
<message><source>All three go to the widest type, so that an fp32 one loses nothing.</source><translation>三个输入都转换为最宽的类型，使其中的 fp32 不损失精度。</translation></message>
<message><source>Not on the autocast list, and it promotes nothing: its inputs must be of one type.</source><translation>不在自动混合精度列表中，也不提升类型：各输入的类型必须相同。</translation></message>
<message><source>Its slope grows without bound near -1 and 1 and magnifies fp16's rounding there.</source><translation>导数在 -1 和 1 附近无限增大，会放大 fp16 的舍入误差。</translation></message>
<message><source>It has poles, near which it overflows fp16.</source><translation>有极点，在极点附近会在 fp16 中溢出。</translation></message>
<message><source>It grows like exp, which overflows fp16 above 11.09.</source><translation>像 exp 一样增长，而 exp 在输入大于 11.09 时就在 fp16 中溢出。</translation></message>
<message><source>Sums of squares and singular values soon overflow fp16.</source><translation>平方和与奇异值在 fp16 中很快溢出。</translation></message>
<message><source>Not on the list itself, but built of pow, which is: so fp32 under autocast.</source><translation>自身不在列表中，但由列表中的 pow 构成，因此在自动混合精度下为 fp32。</translation></message>
<message><source>AMSGrad</source><translation>AMSGrad</translation></message>
<message><source>Divides by the largest running mean so far, so that step sizes never grow again.</source><translation>除以迄今最大的滑动平均，使步长不会再变大。</translation></message>
<message><source>LR decay</source><translation>学习率衰减</translation></message>
<message><source>Decay of Adagrad's learning rate with the number of updates (0 = none).</source><translation>Adagrad 的学习率随更新次数衰减（0 = 不衰减）。</translation></message>
<message><source>Initial accumulator</source><translation>初始累加值</translation></message>
<message><source>Initial value of Adagrad's sums of squared gradients. Above 0, the first steps are shorter.</source><translation>Adagrad 梯度平方和的起始值；大于 0 时最初几步更短。</translation></message>
<message><source>Max grad norm</source><translation>最大梯度范数</translation></message>
<message><source>LAMB clips the norm of all gradients together to this value (0 = no limit).</source><translation>LAMB 把全部梯度的整体范数裁剪到该值（0 = 不限）。</translation></message>
<message><source>NVLAMB</source><translation>NVLAMB</translation></message>
<message><source>Applies LAMB's layer-wise rate to weights without decay too.</source><translation>没有权重衰减的权重也采用 LAMB 的逐层步长。</translation></message>
<message><source>Norm</source><translation>范数</translation></message>
<message><source>Norm of a layer's gradient that NovoGrad divides by: L2, or the largest magnitude.</source><translation>NovoGrad 用来除一层梯度的范数：L2，或最大绝对值。</translation></message>
<message><source>LARC</source><translation>LARC</translation></message>
<message><source>Scales each layer's rate by the ratio of its weight norm to its gradient norm. Works with any optimizer.</source><translation>按每层权重范数与梯度范数之比调整该层的步长，可与任何优化器一起使用。</translation></message>
<message><source>LARC trust</source><translation>LARC 信任系数</translation></message>
<message><source>Trust coefficient: the share of a layer's weights that LARC lets one step change.</source><translation>信任系数：LARC 允许一步改变一层权重的比例。</translation></message>
<message><source>LARC clip</source><translation>LARC 裁剪</translation></message>
<message><source>On: LARC only shortens steps. Off: its rate always multiplies the learning rate.</source><translation>开：LARC 只缩短步长。关：始终用它的比率乘以学习率。</translation></message>
<message><source>Adam</source><translation>Adam</translation></message>
<message><source>Adapts the step size of every weight to its gradient history. Weight decay acts through the gradient.</source><translation>根据梯度历史调整每个权重的步长；权重衰减通过梯度起作用。</translation></message>
<message><source>LAMB</source><translation>LAMB</translation></message>
<message><source>Adam's direction with a layer-wise rate that follows the weight norm. For very large batches.</source><translation>沿 Adam 的方向前进，逐层步长随权重范数变化。适合非常大的批量。</translation></message>
<message><source>NovoGrad</source><translation>NovoGrad</translation></message>
<message><source>Divides each layer's gradient by its running norm: Adam with one number per layer instead of one per weight.</source><translation>用每层梯度范数的滑动平均来除该层的梯度：每层一个数而不是每个权重一个数的 Adam。</translation></message>
<message><source>Adagrad</source><translation>Adagrad</translation></message>
<message><source>Lowers every weight's rate with the sum of its squared gradients. Good for rare features.</source><translation>每个权重的步长随其梯度平方和下降：适合稀疏特征。</translation></message>
<message><source>DLRM</source><translation>DLRM</translation></message>
<message><source>Recommendation model: embedding tables for ids, small networks for numbers, and the products of all pairs.</source><translation>推荐模型：编号查嵌入表，数值经小网络，再取所有向量两两的点积。</translation></message>
<message><source>Bottom layers</source><translation>底部层</translation></message>
<message><source>Sizes of the hidden layers that the numbers go through, first to last. One more layer has the embedding's width.</source><translation>数值特征所经隐藏层的大小，从前到后；其后还有一层，宽度与嵌入相同。</translation></message>
<message><source>Top layers</source><translation>顶部层</translation></message>
<message><source>Sizes of the hidden layers after the interaction, first to last.</source><translation>交互之后各隐藏层的大小，从前到后。</translation></message>
<message><source>Embedding width</source><translation>嵌入宽度</translation></message>
<message><source>Length of the vector for each id of a table.</source><translation>表中每个编号的向量所含数的个数。</translation></message>
<message><source>dlrm: needs numbers and ids of tables</source><translation>dlrm：需要数值特征和嵌入表的编号</translation></message>
<message><source>AUC</source><translation>AUC</translation></message>
<message><source>Click prediction</source><translation>点击率预测</translation></message>
<message><source>Predicts how likely a click is from numbers and ids.</source><translation>由数值特征和编号预测点击的可能性。</translation></message>
<message><source>Tables</source><translation>表数</translation></message>
<message><source>Ids in a sample of generated clicks, each from its own table.</source><translation>生成的每个点击样本中编号的个数，每个编号属于各自的表。</translation></message>
<message><source>Rows of a table</source><translation>每表行数</translation></message>
<message><source>Number of ids in each table of generated clicks; low ids are more frequent.</source><translation>生成的点击中每个表不同编号的个数；小编号更常出现。</translation></message>
<message><source>Generated clicks</source><translation>生成的点击</translation></message>
<message><source>Numbers and ids made from the seed; a known rule decides the clicks.</source><translation>由种子生成的数值、编号和点击，点击由已知规则决定。</translation></message>
<message><source>Rows of each embedding table: Criteo's categories are taken modulo this number.</source><translation>每个嵌入表的行数：Criteo 的类别值对此数取模。</translation></message>
<message><source>Share of the rows that is held out as the test part: the latest ones.</source><translation>留作测试集的行的比例，取时间上最后的行。</translation></message>
<message><source>{}: more than the {} rows that fit into memory</source><translation>{}：超过内存可容纳的 {} 行</translation></message>
<message><source>Use part of the file.</source><translation>请使用文件的一部分。</translation></message>
<message><source>{}: fewer than two rows</source><translation>{}：不足两行</translation></message>
<message><source>Criteo clicks</source><translation>Criteo 点击</translation></message>
<message><source>Clicks on advertisements: 13 numbers and 26 categories a row.</source><translation>广告点击：每行 13 个数值和 26 个类别。</translation></message>
<message><source>A file of Criteo's click logs (train.txt, day_0), plain, .gz or .xz; several as a list.</source><translation>Criteo 点击日志文件（train.txt、day_0），可为普通文件、.gz 或 .xz；多个文件用列表给出。</translation></message>
<message><source>{}: line {} has more than {} bytes</source><translation>{}：第 {} 行超过 {} 字节</translation></message>
<message><source>{}: line {} has more than {} fields between tabs</source><translation>{}：第 {} 行以制表符分隔的字段超过 {} 个</translation></message>
<message><source>{}: line {} has {} fields between tabs, not {}</source><translation>{}：第 {} 行以制表符分隔的字段有 {} 个，应为 {} 个</translation></message>
<message><source>{}: line {} is blank</source><translation>{}：第 {} 行为空行</translation></message>
<message><source>Remove it: only the end of the file may have blank lines.</source><translation>请删除该行：只有文件末尾可以有空行。</translation></message>
<message><source>{}: line {}, field {}: {} is not 0 or 1</source><translation>{}：第 {} 行第 {} 个字段：{} 不是 0 或 1</translation></message>
<message><source>{}: line {}, field {}: {} is not a whole number</source><translation>{}：第 {} 行第 {} 个字段：{} 不是整数</translation></message>
<message><source>{}: line {}, field {}: {} is not up to 8 hexadecimal digits</source><translation>{}：第 {} 行第 {} 个字段：{} 不是至多 8 位的十六进制数</translation></message>
<message><source>Sparse Adam</source><translation>稀疏 Adam</translation></message>
<message><source>Adam that updates only the rows of embedding tables that a batch uses; Adam for the other weights.</source><translation>只更新批中用到的嵌入表行的 Adam；其余权重用普通 Adam。</translation></message>
<message><source>{}: {} is not an id of a table of {} rows</source><translation>{}：{} 不是 {} 行的表中的编号</translation></message>
<message><source>Not on the list: it adds rows of its table in f32, so an fp32 table gives fp32.</source><translation>不在列表中：用 fp32 累加表中的行，因此表是 fp32，结果就是 fp32。</translation></message>
<message><source>O2 FP16</source><translation>O2 FP16</translation></message>
<message><source>The whole model in fp16, with batch norm and master weights in fp32 and a scaled loss. Nearly everything takes half the memory.</source><translation>整个模型用 fp16，批归一化和主权重保持 fp32，并缩放损失。几乎一切都只占一半内存。</translation></message>
<message><source>use false: fp32 weights need no master copy</source><translation>请使用 false：fp32 权重不需要主权重</translation></message>
<message><source>No time saved on a CPU: products are computed in fp32. Weights and activations take half the memory, apart from the fp32 masters.</source><translation>在 CPU 上不省时间：乘积以 fp32 计算。除 fp32 主权重外，权重和激活值占一半内存。</translation></message>
<message><source>Needs one type: both sides go to the wider, so that places keep their precision.</source><translation>要求类型一致：两边都转换为较宽的类型，使采样位置保持精度。</translation></message>
<message><source>Not on the CUDA list: it copies, so the type does not change.</source><translation>不在 GPU 的列表中：只复制数值，类型不变。</translation></message>
<message><source>Moves elements: the type does not change.</source><translation>只移动元素，类型不变。</translation></message>
<message><source>Listed with its family: it only copies, but its result is fp32.</source><translation>随同类算子一起列入：只复制数值，但输出 fp32。</translation></message>
<message><source>Weighs neighbours against each other: in fp32, so that a smooth image stays smooth.</source><translation>对相邻像素加权求和：用 fp32 计算，使平滑的图像保持平滑。</translation></message>
<message><source>optimizer: parameter {} is on another device; give each device its own optimizer</source><translation>优化器：参数 {} 在另一台设备上；请为每台设备各用一个优化器</translation></message>
<message><source>optimizer: parameter {} is not dense in memory</source><translation>优化器：参数 {} 在内存中不是稠密存放的</translation></message>
<message><source>{}: tensor {} has {} dimensions, the most is 8</source><translation>{}：张量 {} 有 {} 维，最多为 8 维</translation></message>
<message><source>No update was applied in epoch {}: all {} steps were skipped, the last one at a loss scale of {}. Lower scaler.init_scale, scaler.backoff_factor or the learning rate.</source><translation>第 {} 轮没有进行任何参数更新：全部 {} 步都被跳过，最后一步的损失缩放为 {}。请调低 scaler.init_scale、scaler.backoff_factor 或学习率。</translation></message>
<message><source>The run diverged: the loss has not been finite for {} steps, up to step {}.</source><translation>训练已发散：损失连续 {} 步不是有限值，直到第 {} 步。</translation></message>
<message><source>Lower optimizer.lr or scaler.init_scale, or use a dynamic scaler, which skips the steps whose gradients overflow.</source><translation>请调低 optimizer.lr 或 scaler.init_scale，或改用动态损失缩放，它会跳过梯度溢出的步。</translation></message>
<message><source>Train in amp-fp16, which keeps the weights and delicate operations in fp32, or lower optimizer.lr.</source><translation>请改用 amp-fp16（权重和对精度敏感的运算保持 fp32），或调低 optimizer.lr。</translation></message>
<message><source>Look for a NaN, an infinity or a huge number in the data and fix or remove that sample; no loss scale or precision helps.</source><translation>请检查数据中是否有 NaN、无穷大或极大的数，并修正或移除该样本；调整损失缩放或精度都无济于事。</translation></message>
<message><source>Lower optimizer.lr or clip.value.</source><translation>请调低 optimizer.lr 或 clip.value。</translation></message>
<message><source>Inputs of up to {} are beyond FP16, whose largest number is 65,504</source><translation>输入最大达到 {}，超出 FP16 的最大值 65,504</translation></message>
<message><source>The loss of the first step is {}: a value of the forward pass is beyond FP16</source><translation>第一步的损失为 {}：前向传播中有值超出 FP16</translation></message>
<message><source>The loss or a gradient of the first step is not finite</source><translation>第一步的损失或某个梯度不是有限值</translation></message>
<message><source>The loss grows from {} to {} within {} steps</source><translation>损失在 {2} 步内从 {0} 增长到 {1}</translation></message>
<message><source>A learning rate of {} is over 100 times the usual {} of {}</source><translation>学习率 {} 超过通常值 {} 的 100 倍（{}）</translation></message>
<message><source>The network ends in {}, in line {}</source><translation>网络以 {} 结束（第 {} 行）</translation></message>
<message><source>The loss takes logits and applies {} itself. After two of them gradients are small, and the network learns slowly.</source><translation>损失取 logits，并自行应用 {}。连用两次会使梯度变小，网络学得很慢。</translation></message>
<message><source>Hardly any network trains at such a rate: the first updates throw the weights far off.</source><translation>几乎没有网络能以这样的学习率训练：最初的几次更新就会使权重严重偏离。</translation></message>
<message><source>Lower optimizer.lr, or clip the gradients with clip.kind norm.</source><translation>请调低 optimizer.lr，或用 clip.kind norm 裁剪梯度。</translation></message>
<message><source>{}: holds more than the {} MiB that a file of this kind can hold</source><translation>{}：内容超过此类文件最多可容纳的 {} MiB</translation></message>
<message><source>Give a file of the data set's official form.</source><translation>请提供该数据集官方格式的文件。</translation></message>
<message><source>{}: neither a file nor a folder</source><translation>{}：既不是普通文件，也不是文件夹</translation></message>
<message><source>{}: its header promises {} samples, more than the {} that a file may hold</source><translation>{}：文件头声明有 {} 个样本，超过单个文件允许的 {} 个</translation></message>
<message><source>{}: over 64 MiB, too long for an order file</source><translation>{}：超过 64 MiB，作为样本顺序文件过长</translation></message>
<message><source>{}: its tensors take {} MiB, more than half of this machine's {} MiB of memory</source><translation>{}：其中的张量占 {} MiB，超过本机 {} MiB 内存的一半</translation></message>
<message><source>Give a file with fewer or smaller tensors.</source><translation>请提供张量更少或更小的文件。</translation></message>
<message><source>{}: cannot be the folder of a run: {}</source><translation>{}：不能用作运行文件夹：{}</translation></message>
<message><source>Give a new folder, or an empty one, where you may write.</source><translation>请给出有写入权限的新文件夹或空文件夹。</translation></message>
<message><source>Stop on NaN</source><translation>遇 NaN 停止</translation></message>
<message><source>Ends the run as diverged after this many consecutive steps with a NaN or infinite loss (0 = never).</source><translation>损失连续这么多步为 NaN 或无穷大后，运行以发散结束（0 = 从不）。</translation></message>
<message><source>Off</source><translation>关闭</translation></message>
<message><source>On</source><translation>开启</translation></message>
<message><source>Static</source><translation>静态</translation></message>
<message><source>Dynamic</source><translation>动态</translation></message>
<message><source>L2</source><translation>L2</translation></message>
<message><source>Largest magnitude</source><translation>最大绝对值</translation></message>
<message><source>Constant</source><translation>恒定</translation></message>
<message><source>Cosine</source><translation>余弦</translation></message>
<message><source>None</source><translation>无</translation></message>
<message><source>By norm</source><translation>按范数</translation></message>
<message><source>By value</source><translation>按值</translation></message>
<message><source>Auto</source><translation>自动</translation></message>
<message><source>CPU</source><translation>CPU</translation></message>
<message><source>CUDA</source><translation>CUDA</translation></message>
<message><source>FP16</source><translation>FP16</translation></message>
<message><source>BF16</source><translation>BF16</translation></message>
<message><source>use a list of presets from {}</source><translation>请使用由下列预设组成的列表：{}</translation></message>
<message><source>{} diverged ({} at step {}).</source><translation>{} 已发散（{}，第 {} 步）。</translation></message>
<message><source>No measurable difference.</source><translation>没有可测量的差异。</translation></message>
<message><source>{}× as fast</source><translation>速度为 {} 倍</translation></message>
<message><source>equally fast</source><translation>速度相同</translation></message>
<message><source>{} % faster</source><translation>快 {} %</translation></message>
<message><source>{} % slower</source><translation>慢 {} %</translation></message>
<message><source>{}× the memory</source><translation>内存为 {} 倍</translation></message>
<message><source>the same memory</source><translation>内存相同</translation></message>
<message><source>{} % more memory</source><translation>内存多 {} %</translation></message>
<message><source>{} % less memory</source><translation>内存少 {} %</translation></message>
<message><source>Typical speed: {} samples/s against {}, over steps {} to {}.</source><translation>典型速度：{} 样本/秒，基准 {} 样本/秒，按第 {} 至 {} 步计算。</translation></message>
<message><source>Typical speed: {} rows/s against {}, over steps {} to {}.</source><translation>典型速度：{} 行/秒，基准 {} 行/秒，按第 {} 至 {} 步计算。</translation></message>
<message><source>Typical speed: {} tokens/s against {}, over steps {} to {}.</source><translation>典型速度：{} 词元/秒，基准 {} 词元/秒，按第 {} 至 {} 步计算。</translation></message>
<message><source>at least {}× as fast</source><translation>速度至少为 {} 倍</translation></message>
<message><source>at least {} % faster</source><translation>至少快 {} %</translation></message>
<message><source>at least {} % slower</source><translation>至少慢 {} %</translation></message>
<message><source>no clear difference in speed</source><translation>速度无明显差异</translation></message>
<message><source>Too few steps to tell a difference in speed from noise.</source><translation>步数太少，无法区分速度差异与噪声。</translation></message>
<message><source>Mean speed, over all steps: {} against {}.</source><translation>平均速度（全部步）：{}，基准 {}。</translation></message>
<message><source>Speed ratio, step by step: {}, 95 % interval {} to {} ({} blocks of steps).</source><translation>逐步对比的速度比为 {}，95 % 置信区间为 {} 至 {}（{} 组连续步）。</translation></message>
<message><source>Peak memory {} against {}.</source><translation>峰值内存 {}，基准 {}。</translation></message>
<message><source>The speed of a CPU says nothing about the speed of a GPU.</source><translation>CPU 上的速度不能说明 GPU 上的速度。</translation></message>
<message><source>Run {} is being trained.</source><translation>运行 {} 正在训练。</translation></message>
<message><source>Stop it before you free its checkpoints.</source><translation>请先停止，再释放其检查点。</translation></message>
<message><source>Run {} has a setting that this version does not take: {} = {}.</source><translation>运行 {} 含有此版本不接受的设置：{} = {}。</translation></message>
<message><source>Resume it with the version of Halftone that trained it.</source><translation>请用训练它的 Halftone 版本继续。</translation></message>
<message><source>Of your last settings, {} = {} is not valid in this version ({}), so the default is used.</source><translation>您上次的设置中，{} = {} 在此版本中无效（{}），因此使用默认值。</translation></message>
<message><source>All of them are kept in {}.</source><translation>全部设置已保存在 {}。</translation></message>
<message><source>Stop it before you delete it.</source><translation>请先停止，再删除。</translation></message>
<message><source>{}: cannot be deleted: {}</source><translation>{}：无法删除：{}</translation></message>
<message><source>Check that you may write to this folder.</source><translation>请确认对这个文件夹有写权限。</translation></message>
<message><source>use whole numbers from {} to {}</source><translation>请使用 {} 到 {} 之间的整数</translation></message>
<message><source>use a number above {} and below {}</source><translation>请使用大于 {} 且小于 {} 的数</translation></message>
<message><source>use a number from {} to below {}</source><translation>请使用不小于 {} 且小于 {} 的数</translation></message>
<message><source>use a number from {} to {}</source><translation>请使用 {} 到 {} 之间的数</translation></message>
<message><source>use a number above {}</source><translation>请使用大于 {} 的数</translation></message>
<message><source>use a number, {} or more</source><translation>请使用不小于 {} 的数</translation></message>
<message><source>use one of {}</source><translation>请使用其中之一：{}</translation></message>
<message><source>Set dataset.path to a CSV file.</source><translation>请把 dataset.path 设为一个 CSV 文件。</translation></message>
<message><source>{}: a folder, not a CSV file</source><translation>{}：这是文件夹，不是 CSV 文件</translation></message>
<message><source>{}: of {} rows, {} are test and {} validation rows: none is left to train on</source><translation>{}：共 {} 行，其中测试集 {} 行、验证集 {} 行，没有剩余的行可用于训练</translation></message>
<message><source>Lower dataset.test_share or dataset.validation_share.</source><translation>请减小 dataset.test_share 或 dataset.validation_share。</translation></message>
<message><source>{}, line {}: two columns are named "{}"</source><translation>{}，第 {} 行：有两列同名，均为“{}”</translation></message>
<message><source>Rename one of them, or set dataset.header to false if this row is data.</source><translation>请重命名其中一列；如果这一行是数据，请把 dataset.header 设为 false。</translation></message>
<message><source>The table has no header: give the number of a column, from 1 to {}.</source><translation>该表没有表头：请给出列号，范围为 1 到 {}。</translation></message>
<message><source>The columns are: {}.</source><translation>现有的列：{}。</translation></message>
<message><source>The nearest names are: {}.</source><translation>最接近的列名：{}。</translation></message>
<message><source>{}: there is no column "{}", which dataset.{} names</source><translation>{}：找不到列“{}”（由 dataset.{} 指定）</translation></message>
<message><source>{}: dataset.columns and dataset.without leave no feature beside the target {}</source><translation>{}：按 dataset.columns 和 dataset.without，除目标列 {} 外没有任何特征列</translation></message>
<message><source>List at least one other column, or none to use them all.</source><translation>请至少再列出一列；留空则使用所有列。</translation></message>
<message><source>{}: every value of column {} is missing</source><translation>{}：列 {} 的值全部缺失</translation></message>
<message><source>Set dataset.target to another column.</source><translation>请把 dataset.target 设为其他列。</translation></message>
<message><source>{}, line {}, column {}: "{}" among numbers</source><translation>{}，第 {} 行，列 {}：数值列中出现了“{}”</translation></message>
<message><source>Set dataset.header to true if the first row holds the names of the columns.</source><translation>如果第一行是列名，请把 dataset.header 设为 true。</translation></message>
<message><source>Correct the value; or set dataset.missing to "drop" or "mean" if it stands for a missing one; or list the column in dataset.categorical to treat its values as words.</source><translation>请改正该值；如果它表示缺失，请把 dataset.missing 设为 "drop" 或 "mean"；若要按类别处理，请把该列加入 dataset.categorical。</translation></message>
<message><source>{}, line {}, column {}: {} is infinite or too large for a 32-bit float</source><translation>{}，第 {} 行，列 {}：{} 为无穷大，或超出 32 位浮点数的范围</translation></message>
<message><source>Correct the value, or leave it empty to mark it as missing.</source><translation>请改正该值，或将其留空以表示缺失。</translation></message>
<message><source>{}, line {}, column {}: "{}" is a number with a comma</source><translation>{}，第 {} 行，列 {}：数值“{}”中含有逗号</translation></message>
<message><source>Write numbers with a decimal point and without thousands separators, or list the column in dataset.categorical.</source><translation>数值请用小数点，不要使用千位分隔符；或把该列加入 dataset.categorical。</translation></message>
<message><source>{}, line {}, column {}: the value is missing, as in {} of {} rows</source><translation>{}，第 {} 行，列 {}：值缺失（该列共有 {} 行缺失，总行数 {}）</translation></message>
<message><source>Set dataset.missing to "drop" to leave such rows out, or to "mean" to fill the gaps.</source><translation>把 dataset.missing 设为 "drop" 可丢弃这些行，设为 "mean" 可填补缺失值。</translation></message>
<message><source>Set dataset.missing to "drop" to leave such rows out, or to "mean" to fill the gaps; or list the column in dataset.categorical if {} is a category.</source><translation>请把 dataset.missing 设为 "drop" 以略去这些行，或设为 "mean" 以填补；如果 {} 是一个类别，请把该列加入 dataset.categorical。</translation></message>
<message><source>{}: more than {} features after one-hot encoding</source><translation>{}：独热编码后的特征数超过 {}</translation></message>
<message><source>Leave columns with many different words out with dataset.without.</source><translation>请用 dataset.without 排除取值过多的类别列。</translation></message>
<message><source>{}, line {}, column {}: the words of the table take more than {} MiB</source><translation>{}，第 {} 行，列 {}：表中的文本占用超过 {} MiB</translation></message>
<message><source>Leave columns of long texts out with dataset.without.</source><translation>请用 dataset.without 排除长文本列。</translation></message>
<message><source>{}, line {}, column {}: the target has more than {} classes</source><translation>{}，第 {} 行，列 {}：目标列的类别数超过 {}</translation></message>
<message><source>{}, line {}, column {}: more than {} different words</source><translation>{}，第 {} 行，列 {}：不同取值超过 {} 个</translation></message>
<message><source>Set dataset.target to a column of fewer classes or of numbers.</source><translation>请把 dataset.target 设为类别较少的列或数值列。</translation></message>
<message><source>Leave the column out with dataset.without.</source><translation>请用 dataset.without 排除该列。</translation></message>
<message><source>{}: the file changed while it was read</source><translation>{}：读取过程中文件发生了变化</translation></message>
<message><source>Start again once nothing writes to it.</source><translation>请在没有程序写入该文件后重试。</translation></message>
<message><source>{}: no row is left: each of the {} rows lacks a value</source><translation>{}：没有剩余的行：全部 {} 行都有缺失值</translation></message>
<message><source>Leave columns with many missing values out with dataset.without, or set dataset.missing to "mean".</source><translation>请用 dataset.without 排除缺失较多的列，或把 dataset.missing 设为 "mean"。</translation></message>
<message><source>rows left out because a value is missing: {} of {}</source><translation>因缺失值而丢弃的行：{} / {}</translation></message>
<message><source>column {} has a different word in every row; leave it out with dataset.without if it is an identifier</source><translation>列 {} 每一行的值都不同；如果它是标识符，请用 dataset.without 排除</translation></message>
<message><source>{}, line {}: the quotation mark opened here is never closed</source><translation>{}，第 {} 行：此处的引号没有闭合</translation></message>
<message><source>Close it. Inside a quoted field, double each quotation mark.</source><translation>请补上右引号；引号内的字段中，每个引号都要写两次。</translation></message>
<message><source>{}, line {}: contains a NUL byte, so it is not a text file</source><translation>{}，第 {} 行：含有 NUL 字节，不是文本文件</translation></message>
<message><source>Save the table as CSV with UTF-8 encoding.</source><translation>请将表格另存为 UTF-8 编码的 CSV。</translation></message>
<message><source>{}, line {}: more than {} columns</source><translation>{}，第 {} 行：列数超过 {}</translation></message>
<message><source>Set dataset.delimiter if the wrong one was found; otherwise split the table.</source><translation>如果分隔符识别有误，请设置 dataset.delimiter；否则请拆分表格。</translation></message>
<message><source>{}, line {}: not valid UTF-8</source><translation>{}，第 {} 行：不是有效的 UTF-8</translation></message>
<message><source>{}, line {}: the row that begins here is longer than {} MiB</source><translation>{}，第 {} 行：从此处开始的一行数据超过 {} MiB</translation></message>
<message><source>A quotation mark in it is probably not closed.</source><translation>其中可能有引号没有闭合。</translation></message>
<message><source>{}, line {}: a quotation mark is out of place</source><translation>{}，第 {} 行：引号位置不正确</translation></message>
<message><source>Put quotation marks around the whole field, and double those inside it.</source><translation>请用引号括住整个字段，并把字段内的引号写两次。</translation></message>
<message><source>{}: no rows below the header</source><translation>{}：表头下面没有数据行</translation></message>
<message><source>Set dataset.header to false if the first row is data.</source><translation>如果第一行是数据，请把 dataset.header 设为 false。</translation></message>
<message><source>{}: contains no rows</source><translation>{}：没有任何数据行</translation></message>
<message><source>Give a file with a row for each sample.</source><translation>请提供每行一个样本的文件。</translation></message>
<message><source>{}: only one column was found; a table needs a target and at least one feature</source><translation>{}：只识别出一列；表格需要一个目标列和至少一个特征列</translation></message>
<message><source>{}: a file in the format of {}, not a CSV file</source><translation>{}：这是 {} 格式的文件，不是 CSV 文件</translation></message>
<message><source>Open it in a spreadsheet program and save the sheet as CSV, with UTF-8 encoding.</source><translation>请用电子表格程序打开，并把工作表另存为 UTF-8 编码的 CSV。</translation></message>
<message><source>Save it as CSV, in Python with pandas: pandas.{}("{}").to_csv("{}", index=False)</source><translation>请另存为 CSV，例如在 Python 中用 pandas：pandas.{}("{}").to_csv("{}", index=False)</translation></message>
<message><source>{}: a zip archive of {} files; only one of a single file is read</source><translation>{}：zip 压缩包内有 {} 个文件；只能读取仅含一个文件的压缩包</translation></message>
<message><source>Unpack it, and give the path of the file or folder.</source><translation>请解压，并给出文件或文件夹的路径。</translation></message>
<message><source>{}: blanks separate the columns; set dataset.delimiter if they do not</source><translation>{}：各列以空白分隔；若非如此，请设置 dataset.delimiter</translation></message>
<message><source>{}: lines above the table are skipped: {}</source><translation>{}：已跳过表格上方的行数：{}</translation></message>
<message><source>{}: the first row ({} to {}) is read as the names of the columns; set dataset.header to false if it is data</source><translation>{}：第一行（{} 至 {}）被视为列名；如果它是数据，请把 dataset.header 设为 false</translation></message>
<message><source>{}: the first row ({} to {}) is read as data; set dataset.header to true if it holds the names of the columns</source><translation>{}：第一行（{} 至 {}）被视为数据；如果它是列名，请把 dataset.header 设为 true</translation></message>
<message><source>columns without a name and a value are left out: {}</source><translation>已排除既无列名也无数据的列：{}</translation></message>
<message><source>columns without a name that count the rows are left out: {}; list them in dataset.columns to use them</source><translation>已排除没有列名、只为行编号的列：{}；若要使用，请列入 dataset.columns</translation></message>
<message><source>numbers with a unit, a currency, separators or another minus sign are read as plain numbers: {}</source><translation>带单位、货币符号、分隔符或其他减号的数值按普通数值读取：{}</translation></message>
<message><source>numbers with different units are read as words: {}; write one unit, or leave the column out with dataset.without</source><translation>单位不同的数值按文字读取：{}；请统一单位，或用 dataset.without 排除该列</translation></message>
<message><source>values among numbers that are no numbers count as missing: {}; list a column in dataset.categorical to read it as words</source><translation>数值列中不是数值的内容视为缺失：{}；若要按文字读取某列，请列入 dataset.categorical</translation></message>
<message><source>whole numbers beyond 2^53 are read as words: {}; leave identifiers out with dataset.without</source><translation>超过 2^53 的整数按文字读取：{}；标识符请用 dataset.without 排除</translation></message>
<message><source>words that often stand for a missing value are read as categories: {}; to count them as missing, list them in dataset.missing_words</source><translation>常用来表示缺失的词被视为类别：{}；若应视为缺失，请列入 dataset.missing_words</translation></message>
<message><source>words count as missing values: {}; list a column in dataset.categorical if they are categories there</source><translation>以下词视为缺失值：{}；如果它们在某列中是类别，请把该列列入 dataset.categorical</translation></message>
<message><source>words that look like numbers or dates are read as words, a feature each: {}; leave a column out with dataset.without</source><translation>看起来像数值或日期的内容按文字读取，每个词一个特征：{}；可用 dataset.without 排除该列</translation></message>
<message><source>Set dataset.delimiter if the columns are separated in another way.</source><translation>如果使用了其他分隔符，请设置 dataset.delimiter。</translation></message>
<message><source>{}, line {}: {} fields where the first row has {}</source><translation>{}，第 {} 行：有 {} 个字段，而第一行有 {} 个</translation></message>
<message><source>Correct the row; a field that contains the delimiter needs quotation marks.</source><translation>请改正该行；含有分隔符的字段需要加引号。</translation></message>
<message><source>{}, line {}: the header has "{}" where that of {} has "{}"</source><translation>{}，第 {} 行：表头中的“{}”与 {} 中的“{}”不一致</translation></message>
<message><source>Give files with the same columns in the same order.</source><translation>各文件的列及其顺序必须相同。</translation></message>
<message><source>{}: column "{}" has no value in the training rows</source><translation>{}：列“{}”在训练集中没有任何值</translation></message>
<message><source>feature columns that never change in the training rows: {} ({})</source><translation>在训练集中取值恒定的特征列：{} 个（{}）</translation></message>
<message><source>the target has a single class: {}</source><translation>目标列只有一个类别：{}</translation></message>
<message><source>classes without a training row: {} of {} ({})</source><translation>训练集中没有样本的类别：{} / {}（{}）</translation></message>
<message><source>the target never changes in the training rows</source><translation>目标值在训练集中恒定不变</translation></message>
<message><source>{}: {} rows of {} features take more than the {} MiB that a data set may use</source><translation>{}：{} 行、{} 个特征所需内存超过数据集的上限 {} MiB</translation></message>
<message><source>Use fewer columns (dataset.without), or part of the file.</source><translation>请减少列数（dataset.without），或只使用文件的一部分。</translation></message>
<message><source>dataset.validation_share: {}: nothing would be left of one part of {} training samples</source><translation>dataset.validation_share：{}：训练样本共 {} 个，划分后其中一部分将没有样本</translation></message>
<message><source>Take another share or more samples.</source><translation>请改用其他比例，或增加样本。</translation></message>
<message><source>dataset.order: a text is read as contiguous streams and has no order file</source><translation>dataset.order：文本按连续的流读取，不支持顺序文件</translation></message>
<message><source>Leave dataset.order empty.</source><translation>请将 dataset.order 留空。</translation></message>
<message><source>Take a smaller batch or a longer text.</source><translation>请减小批量大小，或换用更长的文本。</translation></message>
<message><source>Give a folder with one text file for each part, or a single text file.</source><translation>请指定一个文件夹（训练、验证、测试各一个文本文件），或单个文本文件。</translation></message>
<message><source>{}: its name contains both "{}" and "{}"</source><translation>{}：文件名同时含有“{}”和“{}”</translation></message>
<message><source>{} and {}: both names contain "{}"</source><translation>{} 和 {}：文件名都含有“{}”</translation></message>
<message><source>{}: no text file with "train" in its name here</source><translation>{}：这里没有文件名含“train”的文本文件</translation></message>
<message><source>{}: a folder in a list of several paths</source><translation>{}：路径列表中有多项时不能包含文件夹</translation></message>
<message><source>{}: the training part has fewer than 2 tokens, so there is nothing to predict</source><translation>{}：训练集不足 2 个词元，没有可预测的内容</translation></message>
<message><source>Give a longer text, or hold out a smaller share of it.</source><translation>请换用更长的文本，或减小留出的比例。</translation></message>
<message><source>dataset.validation_share: {}: the validation part would have fewer than 2 tokens</source><translation>dataset.validation_share：{}：验证集将不足 2 个词元</translation></message>
<message><source>Take a larger share or a longer text.</source><translation>请增大比例，或换用更长的文本。</translation></message>
<message><source>{}: too short for a test part</source><translation>{}：数据太少，未划分测试集</translation></message>
<message><source>{}: too large: the tokens up to here take more than {} MiB of memory</source><translation>{}：文本过大：读到此处，词元占用的内存已超过 {} MiB</translation></message>
<message><source>Give a shorter text.</source><translation>请换用较短的文本。</translation></message>
<message><source>{}: {} of the {} tokens of the validation and test parts ({} %) are not in the vocabulary of the training part and became &lt;unk&gt;</source><translation>{}：验证集和测试集中有 {} 个词元（共 {} 个，占 {}%）不在训练集的词表中，已替换为 &lt;unk&gt;</translation></message>
<message><source>{}: the training part has a single distinct word</source><translation>{}：训练集中只有一个不同的词</translation></message>
<message><source>{}: the training part has a single distinct character</source><translation>{}：训练集中只有一个不同的字符</translation></message>
<message><source>{}: fewer than 2 tokens, so there is nothing to predict</source><translation>{}：不足 2 个词元，没有可预测的内容</translation></message>
<message><source>Give a longer text.</source><translation>请换用更长的文本。</translation></message>
<message><source>{}: no test text here, so the run has no test part</source><translation>{}：这里没有测试文本，本次运行没有测试集</translation></message>
<message><source>{}: holds no text, only white space</source><translation>{}：没有文本内容，只有空白字符</translation></message>
<message><source>{}, line {}: begins with the byte order mark of UTF-16</source><translation>{}，第 {} 行：以 UTF-16 字节顺序标记开头</translation></message>
<message><source>{}, line {}: contains a NUL byte, so it is not UTF-8 text</source><translation>{}，第 {} 行：含有 NUL 字节，不是 UTF-8 文本</translation></message>
<message><source>{}, line {}: not valid UTF-8 at byte {} of the line</source><translation>{}，第 {} 行：该行第 {} 个字节不是有效的 UTF-8</translation></message>
<message><source>Give a plain text file with UTF-8 encoding.</source><translation>请使用 UTF-8 编码的纯文本文件。</translation></message>
<message><source>{}, line {}: the longest word has {} characters</source><translation>{}，第 {} 行：最长的词有 {} 个字符</translation></message>
<message><source>{}, line {}: a word of more than {} MiB</source><translation>{}，第 {} 行：单个词超过 {} MiB</translation></message>
<message><source>Words are separated by white space. Read a text without it with the kind text-chars.</source><translation>词以空白字符分隔。没有空白字符的文本请使用 text-chars 类型读取。</translation></message>
<message><source>dataset.min_count: {}: no word of the training part occurs that often</source><translation>dataset.min_count：{}：训练集中没有词达到这个出现次数</translation></message>
<message><source>dataset.min_count: {}: no character of the training part occurs that often</source><translation>dataset.min_count：{}：训练集中没有字符达到这个出现次数</translation></message>
<message><source>Take a smaller number.</source><translation>请改用较小的数值。</translation></message>
<message><source>model.options.tied: true: embedding and hidden must have the same size, not {} and {}</source><translation>model.options.tied：true：嵌入维度与隐藏维度必须相同，而不是 {} 和 {}</translation></message>
<message><source>model.options.heads: {}: must divide the width, {}</source><translation>model.options.heads：{}：必须能整除宽度 {}</translation></message>
<message><source>model.options.context: {}: must be at least the window (bptt), {}</source><translation>model.options.context：{}：不能小于窗口（bptt）{}</translation></message>
<message><source>Another network: a new run begins with the weights of step {}. With --from start they are drawn.</source><translation>换了网络：新的运行从第 {} 步的权重开始。加上 --from start 则随机初始化。</translation></message>
<message><source>orthogonal: a weight of {} would take minutes. Use at most 4096 x 4096, or another rule.</source><translation>orthogonal：{} 的权重需要数分钟。最大为 4096 x 4096，或改用其他规则。</translation></message>
<message><source>bptt: {}: use at most {}, the places that Positions has in the network</source><translation>bptt：{}：最多为 {}，即网络中 Positions 的位置数</translation></message>
<message><source>use true or false, a number, a text, or a list of whole numbers or texts</source><translation>请使用 true 或 false、数字、文本，或由整数或文本组成的列表</translation></message>
<message><source>use false: {} holds no images, and only images can be augmented</source><translation>请设为 false：{} 不含图像，只有图像才能做数据增强</translation></message>
<message><source>leave it empty: a text is read as contiguous streams</source><translation>请留空：文本按连续的流读取</translation></message>
<message><source>model.kind: {}: there is nothing that it could learn from the data set {}</source><translation>model.kind：{}：该模型无法从数据集 {} 学习任何任务</translation></message>
<message><source>task.kind: {}: {} cannot learn it from the data set {}</source><translation>task.kind：{}：{} 无法用数据集 {} 学习该任务</translation></message>
<message><source>The carried state was not finite in {} of the text's streams after step {} and was reset to 0 there. Later resets are not reported.</source><translation>第 {1} 步之后，文本的 {0} 个流中传递状态不是有限值，已重置为 0。之后的重置不再提示。</translation></message>
<message><source>{} on the test part: {} points apart, seed noise {} points.</source><translation>测试集上的{}：相差 {} 个百分点，种子噪声 {} 个百分点。</translation></message>
<message><source>{} on the test part: {} % apart, seed noise {} %.</source><translation>测试集上的{}：相差 {}%，种子噪声 {}%。</translation></message>
<message><source>{} is better by {} %.</source><translation>{} 更好，好 {}%。</translation></message>
<message><source>{} is worse by {} %.</source><translation>{} 更差，差 {}%。</translation></message>
<message><source>Target</source><translation>目标列</translation></message>
<message><source>Column to predict: its name, or its number from 1 if the file has no header. Empty: the last column.</source><translation>要预测的列：填列名；文件没有表头时填列号（从 1 开始）。留空：最后一列。</translation></message>
<message><source>Feature columns</source><translation>特征列</translation></message>
<message><source>Columns used as features. Empty: all columns except the target.</source><translation>用作特征的列。留空：除目标列外的所有列。</translation></message>
<message><source>Columns left out</source><translation>排除的列</translation></message>
<message><source>Columns that are not used as features, for instance identifiers.</source><translation>不用作特征的列，例如标识符。</translation></message>
<message><source>Delimiter</source><translation>分隔符</translation></message>
<message><source>Character between the fields of a row.</source><translation>一行中各字段之间的字符。</translation></message>
<message><source>Automatic</source><translation>自动</translation></message>
<message><source>Comma</source><translation>逗号</translation></message>
<message><source>Semicolon</source><translation>分号</translation></message>
<message><source>Tab</source><translation>制表符</translation></message>
<message><source>Pipe</source><translation>竖线</translation></message>
<message><source>Blanks</source><translation>空白</translation></message>
<message><source>Spaces or tabs, one or several.</source><translation>一个或多个空格或制表符。</translation></message>
<message><source>Header row</source><translation>表头</translation></message>
<message><source>Whether the first row holds the column names. Automatic: where it holds words above numbers, counts the columns (0, 1, 2, ... or 1, 2, 3, ...), or holds years at equal distances above numbers of another scale.</source><translation>第一行是否为列名。自动：第一行是文字而下面是数值、第一行为列的编号（0、1、2……或 1、2、3……），或第一行是等距的年份而下面是另一量级的数值时，视为列名。</translation></message>
<message><source>Yes</source><translation>是</translation></message>
<message><source>No</source><translation>否</translation></message>
<message><source>Categorical columns</source><translation>类别列</translation></message>
<message><source>Columns to treat as categories although their values are numbers, for instance postcodes, or stand for missing ones, for instance None.</source><translation>虽然取值为数值（例如邮政编码）或通常表示缺失（例如 None），但仍按类别处理的列。</translation></message>
<message><source>Missing values</source><translation>缺失值</translation></message>
<message><source>What to do about missing values: empty fields, the words below, and among numbers all other words.</source><translation>如何处理缺失值：空字段、下面列出的词，以及数值列中的所有其他文字。</translation></message>
<message><source>Words for missing</source><translation>表示缺失的词</translation></message>
<message><source>Words that stand for a missing value. Empty: NA, N/A, NaN, nan, null, NULL, None, ? and -, but not among the classes of the target and in categorical columns.</source><translation>表示缺失值的词。留空：NA、N/A、NaN、nan、null、NULL、None、? 和 -，但在目标列的类别和按类别处理的列中除外。</translation></message>
<message><source>{}: packed twice with gzip</source><translation>{}：用 gzip 压缩了两次</translation></message>
<message><source>Unpack it once: gunzip writes the file without its .gz.</source><translation>请先解压一次：gunzip 会写出不带 .gz 的文件。</translation></message>
<message><source>{}: the Python version of {}, which is not read</source><translation>{}：这是 {} 的 Python 版本，无法读取</translation></message>
<message><source>Get the binary version, {}, from {}.</source><translation>请从 {1} 获取二进制版本 {0}。</translation></message>
<message><source>{}: holds another archive, {}</source><translation>{}：其中是另一个压缩包 {}</translation></message>
<message><source>Unpack the outer one first, and set dataset.path to the inner one.</source><translation>请先解压外层，再把 dataset.path 设为内层的压缩包。</translation></message>
<message><source>Set dataset.path to a file of Criteo&apos;s click logs: {}. The official page is {}.</source><translation>请把 dataset.path 设为 Criteo 点击日志的文件：{}。官方页面：{}。</translation></message>
<message><source>{}: a folder, not a file</source><translation>{}：是文件夹，不是文件</translation></message>
<message><source>{}: no {} files here, but an unfinished download: {}</source><translation>{}：这里没有 {} 的文件，只有未完成的下载：{}</translation></message>
<message><source>{}: no {} files here, but a zip archive: {}</source><translation>{}：这里没有 {} 的文件，只有 zip 压缩包：{}</translation></message>
<message><source>Unpack it first. Looked for {}.</source><translation>请先解压。需要的是：{}。</translation></message>
<message><source>Looked for {}. The official page is {}.</source><translation>需要的是：{}。官方页面：{}。</translation></message>
<message><source>Set dataset.path to the folder with {}. The official page is {}.</source><translation>请把 dataset.path 设为含有 {} 的文件夹。官方页面：{}。</translation></message>
<message><source>{}: a zip archive</source><translation>{}：是 zip 压缩包</translation></message>
<message><source>{}: holds several data sets: {}</source><translation>{}：含有多个数据集：{}</translation></message>
<message><source>Set dataset.path to one file of the set to read, or to a folder with that set alone.</source><translation>请把 dataset.path 设为要读取的那个数据集的一个文件，或只含该数据集的文件夹。</translation></message>
<message><source>{}: too few pictures for a test part: a share of {} of each class is less than one picture, so the run has no test part</source><translation>{}：图片太少，无法划出测试部分：每个类别的 {} 不足一张图片，因此本次运行没有测试部分</translation></message>
<message><source>{}: too few pictures for a test part of {} of the {} classes, such as {}</source><translation>{0}：{2} 个类别中有 {1} 个图片太少，没有测试图片，例如 {3}</translation></message>
<message><source>Put it back, and resume from the last checkpoint.</source><translation>请把它放回原处，再从最后一个检查点恢复。</translation></message>
<message><source>Repair it, or resume with --set dataset.damaged=skip: the next picture takes its place.</source><translation>请修复它，或用 --set dataset.damaged=skip 恢复：由下一张图片代替。</translation></message>
<message><source>What to do about pictures that cannot be read when the data set is opened.</source><translation>打开数据集时遇到无法读取的图片如何处理。</translation></message>
<message><source>Damaged pictures</source><translation>损坏的图片</translation></message>
<message><source>What to do about pictures whose damage only decoding shows, during the run.</source><translation>运行中解码时才发现损坏的图片如何处理。</translation></message>
<message><source>The next picture of the order takes the place, and the run counts them. An evaluation leaves them out.</source><translation>由顺序中的下一张图片代替，并计数。评估时略去这些图片。</translation></message>
<message><source>Stop the run</source><translation>停止运行</translation></message>
<message><source>JPEG decoder</source><translation>JPEG 解码器</translation></message>
<message><source>The library that decodes JPEG pictures.</source><translation>用什么解码 JPEG 图片。</translation></message>
<message><source>libjpeg on the CPU</source><translation>CPU 上的 libjpeg</translation></message>
<message><source>The same pixels on every machine.</source><translation>在任何机器上像素都相同。</translation></message>
<message><source>nvJPEG on the GPU</source><translation>GPU 上的 nvJPEG</translation></message>
<message><source>Faster where the CPU cannot keep up with the GPU. Some pixels differ by a few levels, and the CUDA toolkit's nvJPEG must be installed.</source><translation>在 CPU 跟不上 GPU 时更快。部分像素相差几个灰度级，并且需要安装 CUDA 工具包中的 nvJPEG。</translation></message>
<message><source>dataset.decoder is nvjpeg, which needs a GPU: {}.</source><translation>dataset.decoder 设为 nvjpeg，它需要 GPU：{}。</translation></message>
<message><source>dataset.decoder is nvjpeg, but nvJPEG of the CUDA toolkit is missing: {}.</source><translation>dataset.decoder 设为 nvjpeg，但缺少 CUDA 工具包中的 nvJPEG：{}。</translation></message>
<message><source>Set dataset.decoder to exact.</source><translation>请把 dataset.decoder 设为 exact。</translation></message>
<message><source>{}: folders beside the training part are not used: {}</source><translation>{}：训练部分旁边的文件夹没有使用：{}</translation></message>
<message><source>{}: has no pictures in folders of classes, so it is not used</source><translation>{}：类别文件夹中没有图片，因此没有使用</translation></message>
<message><source>{}: has unusual spaces ({}), each a character of its own beside the space</source><translation>{}：含有特殊空白（{}），它们与空格是不同的字符</translation></message>
<message><source>{}: {} no-break or other unusual spaces separate words, as spaces do</source><translation>{}：{} 个不换行空格或其他特殊空白像空格一样分隔单词</translation></message>
<message><source>{}: tensors that the model does not have are left out: {}</source><translation>{}：模型中没有的张量已略去：{}</translation></message>
<message><source>{}: holds the model without its head {}, which is drawn anew</source><translation>{}：其中的模型没有输出头 {}，输出头重新随机初始化</translation></message>
<message><source>To draw the last layer anew, set model.new_head to true.</source><translation>如要重新初始化最后一层，请把 model.new_head 设为 true。</translation></message>
<message><source>{}: the weights under {} are read; it also holds {}. Choose with model.init_key.</source><translation>{}：读取了 {} 下的权重；文件中还有 {}。可用 model.init_key 选择。</translation></message>
<message><source>choose the folder or the files of {}: {}. The official page is {}</source><translation>请选择 {} 的文件夹或文件：{}。官方页面：{}</translation></message>
<message><source>leave it empty, or choose the weights to start from in model.init_from</source><translation>请留空，或在 model.init_from 中选择起始权重</translation></message>
<message><source>the text is not valid UTF-8</source><translation>文本不是有效的 UTF-8</translation></message>
<message><source>Not in the vocabulary of the run, and read as &lt;unk&gt;: {}</source><translation>不在本次运行的词表中，按 &lt;unk&gt; 读取：{}</translation></message>
<message><source>Words that are not in the vocabulary of the run are left out: {}</source><translation>略去了不在本次运行词表中的单词：{}</translation></message>
<message><source>Characters that are not in the vocabulary of the run are left out: {}</source><translation>略去了不在本次运行词表中的字符：{}</translation></message>
<message><source>A damaged sample is skipped, and the next one of the order takes its place: {}</source><translation>跳过一个损坏的样本，由顺序中的下一个代替：{}</translation></message>
<message><source>{}: {} and {} look like the same part</source><translation>{}：{} 和 {} 像是同一部分</translation></message>
<message><source>Rename or move one of them.</source><translation>请将其中一个改名或移走。</translation></message>
<message><source>{}: {} looks like a part, but there is no training part beside it</source><translation>{}：{} 像是数据集的一部分，但旁边没有训练部分</translation></message>
<message><source>Put the folders of the classes to train on into a folder train beside it. If it is a class, give it another name.</source><translation>请把用于训练的类别文件夹放进与它并列的文件夹 train。如果它是一个类别，请改名。</translation></message>
<message><source>{}: holds nothing under {}: its names begin with {}</source><translation>{}：{} 下没有内容：其中的名称以 {} 开头</translation></message>
<message><source>Set model.init_key to a key or a prefix of the file, or leave it empty.</source><translation>请把 model.init_key 设为文件中的键或前缀，或留空。</translation></message>
<message><source>{}: holds several models that fit, under the prefixes {}</source><translation>{}：含有多个相符的模型，前缀为 {}</translation></message>
<message><source>Set model.init_key to the one to start from.</source><translation>请用 model.init_key 选择起始权重。</translation></message>
<message><source>it holds an object of {}, not a dict of tensors</source><translation>其内容是 {} 的对象，不是张量字典</translation></message>
<message><source>it holds several dicts of tensors: {}</source><translation>其中有多个张量字典：{}</translation></message>
<message><source>Key in the file</source><translation>文件中的键</translation></message>
<message><source>Of a file with several models, the one to start from: its key or the prefix of its names. Empty: the only one.</source><translation>文件含有多个模型时，指定作为起点的一个：它的键或名称前缀。留空：唯一的一个。</translation></message>
<message><source>Draws the last layer again if the file lacks it or has it in another shape, for fine-tuning on other classes.</source><translation>如果文件中没有最后一层或其形状不同，则重新初始化，用于在其他类别上微调。</translation></message>
<message><source>Report an error</source><translation>报错</translation></message>
<message><source>Drop the row</source><translation>丢弃该行</translation></message>
<message><source>Impute</source><translation>填补</translation></message>
<message><source>The training mean of a numeric column, the most frequent category of a categorical one.</source><translation>数值列用训练集均值，类别列用训练集中最常见的类别。</translation></message>
<message><source>Standardize features</source><translation>特征标准化</translation></message>
<message><source>Scales numeric features to mean 0 and standard deviation 1 over the training rows.</source><translation>按训练集把数值特征缩放为均值 0、标准差 1。</translation></message>
<message><source>Test share</source><translation>测试集比例</translation></message>
<message><source>Fraction of the rows held out as the test set, drawn by the seed.</source><translation>按随机种子抽取并留作测试集的行所占的比例。</translation></message>
<message><source>Minimum count</source><translation>最低出现次数</translation></message>
<message><source>Words that occur less often in the training part become &lt;unk&gt;.</source><translation>训练集中出现次数低于此值的词替换为 &lt;unk&gt;。</translation></message>
<message><source>Characters that occur less often in the training part become &lt;unk&gt;.</source><translation>训练集中出现次数低于此值的字符替换为 &lt;unk&gt;。</translation></message>
<message><source>Vocabulary limit</source><translation>词表上限</translation></message>
<message><source>Keeps this many of the most frequent words; the others become &lt;unk&gt;. 0 keeps all words.</source><translation>只保留出现最多的这些词，其余替换为 &lt;unk&gt;。0 表示全部保留。</translation></message>
<message><source>words</source><translation>词</translation></message>
<message><source>Lowercase</source><translation>转为小写</translation></message>
<message><source>Converts Latin, Greek and Cyrillic letters to lower case before the vocabulary is built.</source><translation>建立词表前，将拉丁、希腊和西里尔字母转为小写。</translation></message>
<message><source>Fraction of the text, at its end, held out as the test set. A folder with its own test file ignores it.</source><translation>将文本末尾的这一比例留作测试集。文件夹自带测试文件时忽略此项。</translation></message>
<message><source>Table (CSV)</source><translation>表格（CSV）</translation></message>
<message><source>Rows of a table: predicts one column from the others.</source><translation>表格的行：用其他列预测其中一列。</translation></message>
<message><source>A CSV file, plain, .gz, .xz or .zip; several with the same columns as a list.</source><translation>一个 CSV 文件，可为普通文件、.gz、.xz 或 .zip；列相同的多个文件用列表给出。</translation></message>
<message><source>Text (tokenizer.json)</source><translation>文本（tokenizer.json）</translation></message>
<message><source>A text as the tokens of a tokenizer file, for weights that were trained on them.</source><translation>按分词器文件的词元读取的文本，用于以这些词元训练过的权重。</translation></message>
<message><source>Tokenizer</source><translation>分词器</translation></message>
<message><source>The tokenizer.json whose tokens the weights to start from know. The run keeps a copy.</source><translation>起始权重所用词元的 tokenizer.json。运行会保存一份副本。</translation></message>
<message><source>Special tokens</source><translation>特殊词元</translation></message>
<message><source>Puts the tokenizer's special tokens, such as [CLS] and [SEP], around each line. Without them the text is read as a whole, with its line ends.</source><translation>在每一行前后加上分词器的特殊词元，例如 [CLS] 和 [SEP]。不加时，文本连同换行作为一个整体读取。</translation></message>
<message><source>the tokenizer replaces by a regular expression, which is not supported</source><translation>分词器用正则表达式替换文本，尚不支持</translation></message>
<message><source>the tokenizer's {} {} is not supported</source><translation>不支持分词器的 {} {}</translation></message>
<message><source>the tokenizer has a merge that is no pair: {}</source><translation>分词器有一条合并规则不是一对词元：{}</translation></message>
<message><source>the tokenizer's vocabulary lacks the token {} that it uses</source><translation>分词器的词表缺少它使用的词元 {}</translation></message>
<message><source>the tokenizer has a token with the id {}</source><translation>分词器有一个编号为 {} 的词元</translation></message>
<message><source>the tokenizer has two tokens with the id {}: {} and {}</source><translation>分词器有两个编号同为 {} 的词元：{} 和 {}</translation></message>
<message><source>{}: no tokenizer.json: {}</source><translation>{}：不是 tokenizer.json：{}</translation></message>
<message><source>{}: no tokenizer.json: a part of it is missing or of another kind</source><translation>{}：不是 tokenizer.json：缺少某一部分，或其类型不对</translation></message>
<message><source>Give dataset.tokenizer the path of a tokenizer.json.</source><translation>请为 dataset.tokenizer 填写 tokenizer.json 的路径。</translation></message>
<message><source>{}: {} different words are not in the tokenizer's vocabulary: {}</source><translation>{}：有 {} 个不同的词不在分词器的词表中：{}</translation></message>
<message><source>dataset.tokenizer: choose the tokenizer.json that cuts the text</source><translation>dataset.tokenizer：请选择用来切分文本的 tokenizer.json</translation></message>
<message><source>{}: not the tokenizer that the run was trained with</source><translation>{}：不是该运行训练时所用的分词器</translation></message>
<message><source>Put the run's own file back.</source><translation>请放回该运行自己的文件。</translation></message>
<message><source>Not in the vocabulary of the tokenizer: {}</source><translation>不在分词器的词表中：{}</translation></message>
<message><source>Text (words)</source><translation>文本（按词）</translation></message>
<message><source>A text as a sequence of words, for a language model.</source><translation>以词序列读取的文本，用于语言模型。</translation></message>
<message><source>A text file, or a folder with train, valid and test files, plain, .gz or .xz.</source><translation>一个文本文件，或含 train、valid、test 文件的文件夹，可为 .gz 或 .xz 压缩。</translation></message>
<message><source>Text (characters)</source><translation>文本（按字符）</translation></message>
<message><source>A text as a sequence of characters, for a language model.</source><translation>以字符序列读取的文本，用于语言模型。</translation></message>
<message><source>Generated text</source><translation>生成的文本</translation></message>
<message><source>Simple sentences, sums and brackets, made from the seed; for a small language model of characters.</source><translation>由种子生成的简单句子、算式和括号，适合小型字符语言模型。</translation></message>
<message><source>images</source><translation>图像</translation></message>
<message><source>points</source><translation>点</translation></message>
<message><source>rows</source><translation>行</translation></message>
<message><source>tokens</source><translation>词元</translation></message>
<message><source>RNN language model</source><translation>RNN 语言模型</translation></message>
<message><source>Recurrent layers that predict the next word or character from those before.</source><translation>用循环层根据前文预测下一个词或字符。</translation></message>
<message><source>Cell</source><translation>循环单元</translation></message>
<message><source>Kind of recurrent layer. LSTM and GRU remember over longer spans than plain RNNs.</source><translation>循环层的类型。LSTM 和 GRU 比普通 RNN 记得更久。</translation></message>
<message><source>LSTM</source><translation>LSTM</translation></message>
<message><source>GRU</source><translation>GRU</translation></message>
<message><source>RNN (tanh)</source><translation>RNN（tanh）</translation></message>
<message><source>RNN (ReLU)</source><translation>RNN（ReLU）</translation></message>
<message><source>Embedding size</source><translation>嵌入维度</translation></message>
<message><source>Length of the vector for one word.</source><translation>表示一个词的向量长度。</translation></message>
<message><source>Hidden size</source><translation>隐藏维度</translation></message>
<message><source>Length of the state of each recurrent layer.</source><translation>每个循环层的状态向量长度。</translation></message>
<message><source>Layers</source><translation>层数</translation></message>
<message><source>Recurrent layers on top of each other.</source><translation>堆叠的循环层数。</translation></message>
<message><source>Dropout</source><translation>Dropout</translation></message>
<message><source>Share of values that is set to 0 at random in training, against overfitting.</source><translation>训练时随机置 0 的比例，用于防止过拟合。</translation></message>
<message><source>Tied weights</source><translation>共享权重</translation></message>
<message><source>Uses the embedding's table as the weight of the output layer. Needs equal embedding and hidden sizes.</source><translation>输出层与嵌入层共用权重，要求嵌入维度与隐藏维度相同。</translation></message>
<message><source>Hidden layers</source><translation>隐藏层</translation></message>
<message><source>Classification</source><translation>分类</translation></message>
<message><source>Finds the class of each sample.</source><translation>判断每个样本的类别。</translation></message>
<message><source>Regression</source><translation>回归</translation></message>
<message><source>Predicts a number for each sample.</source><translation>为每个样本预测一个数值。</translation></message>
<message><source>Transformer language model</source><translation>Transformer 语言模型</translation></message>
<message><source>GPT-2: attention over the tokens of a window predicts the next one.</source><translation>GPT-2：用窗口内各词元间的注意力预测下一个词元。</translation></message>
<message><source>BERT</source><translation>BERT</translation></message>
<message><source>Attention over a whole window finds the words that are masked in it.</source><translation>用整个窗口的注意力找出其中被遮盖的词。</translation></message>
<message><source>Transformer blocks on top of each other.</source><translation>堆叠的 Transformer 块数。</translation></message>
<message><source>Width</source><translation>宽度</translation></message>
<message><source>Length of the vector for one token throughout the model.</source><translation>模型中表示一个词元的向量长度。</translation></message>
<message><source>Attention heads</source><translation>注意力头数</translation></message>
<message><source>Number of parts of the width that compute attention separately. Must divide the width.</source><translation>宽度被分成的、各自计算注意力的份数，必须能整除宽度。</translation></message>
<message><source>Feed-forward width</source><translation>前馈层宽度</translation></message>
<message><source>Width inside the feed-forward layers. 0: four times the width.</source><translation>前馈层内部的宽度。0：宽度的四倍。</translation></message>
<message><source>Context</source><translation>上下文长度</translation></message>
<message><source>Number of positions, which is the longest window that the model can read. 0: the tokens of a window (bptt).</source><translation>模型的位置数，即它能读取的最长窗口。0：与窗口的词元数（bptt）相同。</translation></message>
<message><source>Language model</source><translation>语言模型</translation></message>
<message><source>Predicts the next word or character of a text.</source><translation>预测文本的下一个词或字符。</translation></message>
<message><source>Accuracy</source><translation>准确率</translation></message>
<message><source>RMSE</source><translation>RMSE</translation></message>
<message><source>R²</source><translation>R²</translation></message>
<message><source>Perplexity</source><translation>困惑度</translation></message>
<message><source>Masked language model</source><translation>掩码语言模型</translation></message>
<message><source>Finds words or characters that are masked in a text.</source><translation>找出文本中被遮盖的词或字符。</translation></message>
<message><source>Masked accuracy</source><translation>掩码准确率</translation></message>
<message><source>Loss</source><translation>损失</translation></message>
<message><source>Task</source><translation>任务</translation></message>
<message><source>What the model learns. Auto: decided by the data set and the model.</source><translation>要学习的任务。“自动”由数据集和模型决定。</translation></message>
<message><source>Validation share</source><translation>验证集比例</translation></message>
<message><source>Share of the training part that is kept out of training and evaluated after each epoch (0 = none).</source><translation>从训练集中划出、不参与训练、每轮结束后评估的比例（0 = 不划分）。</translation></message>
<message><source>Window</source><translation>窗口长度</translation></message>
<message><source>Tokens of a text that gradients flow back through (truncated back-propagation).</source><translation>梯度反向传播经过的词元数（截断反向传播）。</translation></message>
<message><source>Evaluation batch</source><translation>评估批量大小</translation></message>
<message><source>Rows of a batch in evaluation (0 = chosen by the task).</source><translation>评估时每批的行数（0 = 由任务决定）。</translation></message>
<message><source>use a word</source><translation>请使用一个词</translation></message>
<message><source>use whole numbers, separated by commas</source><translation>请使用整数，以逗号分隔</translation></message>
<message><source>use words, separated by commas</source><translation>请使用词，以逗号分隔</translation></message>
<message><source>Ignored, since the current choice of their section does not use them: {}.</source><translation>以下选项属于本节的其他选择，已忽略：{}。</translation></message>
<message><source>use off: {} has no blocks to recompute</source><translation>请设为 off：{} 没有可重新计算的块</translation></message>
<message><source>Recompute</source><translation>重计算</translation></message>
<message><source>Blocks: keeps only the input of each block and computes the block again in the backward pass. Less memory for activations, a third more computation, the same results.</source><translation>“按块”：只保留每个块的输入，反向传播时重新计算该块。激活值占用的内存更少，计算量约增加三分之一，结果相同。</translation></message>
<message><source>Blocks</source><translation>按块</translation></message>
<message><source>use a number that fits into fp32</source><translation>请使用 fp32 能表示的数</translation></message>
<message><source>{}, line {}, column {}: a word of {} bytes</source><translation>{}，第 {} 行，列 {}：有一个 {} 字节的词</translation></message>
<message><source>batch_size: {}: the text has {} tokens, and each row of a batch needs at least 2 of its own</source><translation>batch_size：{}：文本只有 {} 个词元，而批次的每一行至少需要 2 个</translation></message>
<message><source>No update was applied in epoch {}: all {} steps were skipped, since the loss itself was not finite. Bring the inputs into a smaller range, keep what overflows in FP32, or train in bf16 or fp32; a lower loss scale does not help.</source><translation>第 {} 轮没有应用任何更新：全部 {} 步都被跳过，因为损失本身不是有限值。请缩小输入的范围，让溢出的部分保持 FP32，或用 bf16 或 fp32 训练；降低损失缩放没有作用。</translation></message>
<message><source>No update was applied in epoch {}: all {} steps were skipped, since the loss itself was not finite. Look for a NaN, an infinity or a huge number in the data and fix or remove that sample; no loss scale or precision helps.</source><translation>第 {} 轮没有应用任何更新：全部 {} 步都被跳过，因为损失本身不是有限值。请检查数据中是否有 NaN、无穷大或极大的数，并修正或移除该样本；调整损失缩放或精度都无济于事。</translation></message>
<message><source>This machine is out of memory.</source><translation>本机内存不足。</translation></message>
<message><source>Take a smaller batch, model or data set.</source><translation>请使用更小的批次、模型或数据集。</translation></message>
<message><source>Resume from an earlier checkpoint of the run (--from).</source><translation>请从该运行更早的检查点恢复（--from）。</translation></message>
<message><source>{}: the state of the checkpoint cannot be read</source><translation>{}：无法读取检查点的状态</translation></message>
<message><source>{}: the checkpoint is of a later version of this program</source><translation>{}：检查点由本程序的更新版本写入</translation></message>
<message><source>{}: the checkpoint's state is incomplete</source><translation>{}：检查点的状态不完整</translation></message>
<message><source>{}: the checkpoint lacks this file</source><translation>{}：检查点缺少此文件</translation></message>
<message><source>{}: the file is damaged, its checksum (SHA-256) differs from that in the checkpoint</source><translation>{}：文件已损坏，其校验和（SHA-256）与检查点中的不一致</translation></message>
<message><source>{}: the run has no checkpoint</source><translation>{}：该运行没有检查点</translation></message>
<message><source>The settings under checkpoint decide when a run saves checkpoints.</source><translation>运行按 checkpoint 下的设置保存检查点。</translation></message>
<message><source>{}: no checkpoint is marked as the best one</source><translation>{}：没有检查点被标记为最佳</translation></message>
<message><source>Use &quot;last&quot;, or one of these steps: {}.</source><translation>请使用 “last”，或以下步数之一：{}。</translation></message>
<message><source>{}: the run has no checkpoint &quot;{}&quot;</source><translation>{}：该运行没有检查点 “{}”</translation></message>
<message><source>Use &quot;last&quot;, &quot;best&quot;, or one of these steps: {}.</source><translation>请使用 “last”、“best”，或以下步数之一：{}。</translation></message>
<message><source>{}: the file cannot be read</source><translation>{}：无法读取文件</translation></message>
<message><source>{}: the run is being trained</source><translation>{}：该运行正在训练</translation></message>
<message><source>{}: cannot be read, so another program may have taken over this run</source><translation>{}：无法读取，该运行可能已被另一程序接管</translation></message>
<message><source>Check the connection to that folder; then resume the run.</source><translation>请检查与该文件夹的连接，然后恢复该运行。</translation></message>
<message><source>{}: another program has taken over this run, or removed its lease; nothing more is written here</source><translation>{}：另一程序已接管该运行，或删除了它的租约；此处不再写入</translation></message>
<message><source>Resume the run if it should go on.</source><translation>若要让该运行继续，请恢复它。</translation></message>
<message><source>{}: process {} on {} has taken over this run; nothing more is written here</source><translation>{}：{2} 上的进程 {1} 已接管该运行；此处不再写入</translation></message>
<message><source>The run goes on there.</source><translation>该运行在那里继续。</translation></message>
<message><source>Stop it there first. If it was cut off there, its lease ends in {} s.</source><translation>请先在那里停止它。若它在那里已中断，租约将在 {} 秒后失效。</translation></message>
<message><source>{}: no program trains this run</source><translation>{}：没有程序在训练该运行</translation></message>
<message><source>{}: the program that trains this run takes no requests: it is an earlier version</source><translation>{}：训练该运行的程序是较早的版本，不接受请求</translation></message>
<message><source>Stop it where it runs.</source><translation>请在它运行的地方停止它。</translation></message>
<message><source>{}: the run has ended</source><translation>{}：该运行已结束</translation></message>
<message><source>{}: process {} on {}, which trains this run, has not answered in {} s</source><translation>{}：进程 {}（位于 {}）正在训练该运行，{} 秒内没有应答</translation></message>
<message><source>The request was withdrawn. Give it more time with --timeout; an earlier version or another program does not answer: stop it where it runs.</source><translation>请求已撤回。可用 --timeout 多等一会儿；较早的版本或其他程序不会应答：请在它运行的地方停止它。</translation></message>
<message><source>{}: the token cannot be read</source><translation>{}：无法读取令牌</translation></message>
<message><source>{}: other users may read or write this token</source><translation>{}：其他用户可以读取或写入此令牌</translation></message>
<message><source>Run `chmod 600` on the file.</source><translation>请对该文件执行 `chmod 600`。</translation></message>
<message><source>{}: a token is one word of at least {} printable characters</source><translation>{}：令牌应为一个至少含 {} 个可打印字符的词</translation></message>
<message><source>Make one with `openssl rand -hex 32`.</source><translation>可用 `openssl rand -hex 32` 生成。</translation></message>
<message><source>{}: an address beyond this machine is served only with a token</source><translation>{}：本机以外的地址只有在有令牌时才提供服务</translation></message>
<message><source>Give one with --token-file, or leave out --bind and use `ssh -L`.</source><translation>请用 --token-file 给出令牌，或省去 --bind 并使用 `ssh -L`。</translation></message>
<message><source>{}, port {}: nothing can be served there</source><translation>{}，端口 {}：无法在此提供服务</translation></message>
<message><source>Another program may use this port: give another one with --port.</source><translation>该端口可能被其他程序占用：请用 --port 指定另一个。</translation></message>
<message><source>{}: the run is being trained on {}</source><translation>{}：该运行正在 {} 上训练</translation></message>
<message><source>{}: the run is being trained on {}, which has been silent for {} s</source><translation>{}：该运行正在 {} 上训练，该机器已 {} 秒没有消息</translation></message>
<message><source>Give a new folder, or an empty one.</source><translation>请给出一个新文件夹或空文件夹。</translation></message>
<message><source>Stop it before you resume it.</source><translation>请先停止它，再恢复。</translation></message>
<message><source>{}: the step record is cut short</source><translation>{}：步记录被截断</translation></message>
<message><source>{}: the step record was written by another version of this program and cannot be continued</source><translation>{}：步记录由本程序的另一版本写入，无法续写</translation></message>
<message><source>{}: the step record ends before step {}</source><translation>{}：步记录在第 {} 步之前就结束了</translation></message>
<message><source>remove the empty name from the list</source><translation>请从列表中删去空名称</translation></message>
<message><source>use false, or choose the weights to start from in model.init_from</source><translation>请用 false，或在 model.init_from 中选择起始权重</translation></message>
<message><source>New last layer</source><translation>新的最后一层</translation></message>
<message><source>Freeze</source><translation>冻结</translation></message>
<message><source>Parameters whose names begin with one of these, such as conv1, are not trained. Batch-norm statistics still follow the data.</source><translation>不参与训练的参数名称的前缀，例如 conv1。批归一化的统计量仍随数据更新。</translation></message>
<message><source>Save every</source><translation>保存间隔</translation></message>
<message><source>Saves a checkpoint after this many steps (0 = not by steps).</source><translation>每隔这么多步保存一个检查点（0 = 不按步数）。</translation></message>
<message><source>Saves a checkpoint after this many minutes, so that a crash loses no more (0 = not by time).</source><translation>每隔这么多分钟保存一个检查点，崩溃时最多丢失这段时间（0 = 不按时间）。</translation></message>
<message><source>minutes</source><translation>分钟</translation></message>
<message><source>Saves a checkpoint after this many epochs (0 = not by epochs).</source><translation>每隔这么多轮保存一个检查点（0 = 不按轮数）。</translation></message>
<message><source>Keep</source><translation>保留</translation></message>
<message><source>Number of newest checkpoints that are kept. The best one is kept in addition.</source><translation>保留的最新检查点数。最佳检查点另外保留。</translation></message>
<message><source>checkpoints</source><translation>个检查点</translation></message>
<message><source>Save the best</source><translation>保存最佳</translation></message>
<message><source>Saves a checkpoint after each evaluation that is better than all before it.</source><translation>每当评估优于之前所有评估时，保存一个检查点。</translation></message>
<message><source>Save at the end</source><translation>结束时保存</translation></message>
<message><source>Saves a checkpoint when the run ends or is stopped, so that it can be resumed and used.</source><translation>运行结束或停止时保存一个检查点，以便恢复和使用。</translation></message>
<message><source>The checkpoint of step {} could not be written: it takes {}, and {} are free on the disk. Training goes on; earlier checkpoints stay.</source><translation>第 {} 步的检查点未能写入：需要 {}，磁盘仅剩 {}。训练继续；较早的检查点保留。</translation></message>
<message><source>The checkpoint of step {} ({}) could not be written: {}. Training goes on; earlier checkpoints stay.</source><translation>第 {} 步的检查点（{}）未能写入：{}。训练继续；较早的检查点保留。</translation></message>
<message><source>the saved state has no number &quot;{}&quot;</source><translation>保存的状态中缺少数值 “{}”</translation></message>
<message><source>Nothing: the run has no checkpoint and starts again.</source><translation>无：该运行没有检查点，从头开始。</translation></message>
<message><source>Weights and buffers: {} tensors.</source><translation>权重与缓冲区：{} 个张量。</translation></message>
<message><source>Weights and buffers: {} tensors, converted to the other precision.</source><translation>权重与缓冲区：{} 个张量，已转换为另一精度。</translation></message>
<message><source>Optimizer: {} starts afresh and replaces {}; {} updates count as applied.</source><translation>优化器：{} 取代 {}，重新开始；{} 次更新计为已执行。</translation></message>
<message><source>Optimizer {}: state after {} updates.</source><translation>优化器 {}：{} 次更新后的状态。</translation></message>
<message><source>Optimizer {}: state after {} updates, with {} master weights.</source><translation>优化器 {}：{} 次更新后的状态，含 {} 个主权重。</translation></message>
<message><source>Loss scale: none, this precision has no dynamic scaler.</source><translation>损失缩放：无，此精度没有动态缩放器。</translation></message>
<message><source>Loss scale: begins at {}.</source><translation>损失缩放：从 {} 开始。</translation></message>
<message><source>Loss scale {}, growth tracker {}.</source><translation>损失缩放 {}，增长计数 {}。</translation></message>
<message><source>Learning-rate schedule: after {} applied updates.</source><translation>学习率计划：已执行 {} 次更新。</translation></message>
<message><source>Data: continues with batch {} of epoch {}.</source><translation>数据：从第 {1} 轮的第 {0} 个批次继续。</translation></message>
<message><source>Random numbers: seed {}, after step {}.</source><translation>随机数：种子 {}，第 {} 步之后。</translation></message>
<message><source>Carried state: {} tensors.</source><translation>传递状态：{} 个张量。</translation></message>
<message><source>Step record: up to step {}.</source><translation>步记录：到第 {} 步。</translation></message>
<message><source>keep it: a run cannot continue with another value. Start a new run from the weights (model.init_from) instead</source><translation>请保持原值：运行不能以其他值继续。可改为从其权重开始新的运行（model.init_from）</translation></message>
<message><source>Run {} has completed all of its {} steps.</source><translation>运行 {} 已完成全部 {} 步。</translation></message>
<message><source>Give it more epochs, for instance --set epochs={}.</source><translation>请增加轮数，例如 --set epochs={}。</translation></message>
<message><source>Remove the file: without it, columns, classes and numbers of samples are compared.</source><translation>请删除该文件：没有它时，将比较列、类别和样本数。</translation></message>
<message><source>{}, so the data were not compared with it.</source><translation>{}，因此未与其比较数据。</translation></message>
<message><source>use more than {}, or 0: as many evaluated epochs in a row were not better, which ended the run</source><translation>请大于 {}，或为 0：连续这么多个已评估的轮次没有变好，运行因此结束</translation></message>
<message><source>There is no batch {} in epoch {}: an epoch has {} batches.</source><translation>不存在批次 {}（第 {} 轮）：一轮有 {} 个批次。</translation></message>
<message><source>The checkpoint of step {} has an impossible place in the data: epoch {}, batch {}; an epoch has {} batches.</source><translation>第 {} 步的检查点所记的数据位置不可能存在：第 {} 轮，批次 {}；一轮有 {} 个批次。</translation></message>
<message><source>the saved state has no whole number &quot;{}&quot;, it has {}</source><translation>保存的状态中“{}”不是整数：{}</translation></message>
<message><source>the saved state has an impossible {}: {}</source><translation>保存的状态中 {} 的值不可能存在：{}</translation></message>
<message><source>Run {} goes on from step {} of run {} and has no checkpoint.</source><translation>运行 {0} 从运行 {2} 的第 {1} 步继续，且没有检查点。</translation></message>
<message><source>Resume run {} once more.</source><translation>请再次恢复运行 {}。</translation></message>
<message><source>The checkpoints of run {} are gone: {}</source><translation>运行 {} 的检查点已不存在：{}</translation></message>
<message><source>Put them back. --from start begins anew, as a new run.</source><translation>请恢复这些检查点。--from start 会作为新的运行重新开始。</translation></message>
<message><source>Resume it with that version, or from an earlier checkpoint as a new run (--from STEP). Nothing was changed.</source><translation>请用该版本恢复，或从较早的检查点作为新的运行恢复（--from STEP）。没有任何改动。</translation></message>
<message><source>No checkpoint of run {} can be read: {}</source><translation>运行 {} 的检查点均无法读取：{}</translation></message>
<message><source>Nothing was changed: the {} recorded steps are left. --from start begins anew, as a new run.</source><translation>没有任何改动：已记录的 {} 步仍在。--from start 会作为新的运行重新开始。</translation></message>
<message><source>use at least {}: the checkpoint of step {} has {} epochs</source><translation>至少为 {}：第 {} 步的检查点已有 {} 轮</translation></message>
<message><source>use at least {}, or 0: the checkpoint has {} steps</source><translation>至少为 {}，或为 0：检查点已有 {} 步</translation></message>
<message><source>{}. The new run goes on from step {}.</source><translation>{}。新的运行从第 {} 步继续。</translation></message>
<message><source>{}. The run goes on from step {}: the {} recorded steps after it are computed again. What is damaged is kept under the name .damaged.</source><translation>{}。运行从第 {} 步继续：其后已记录的 {} 步将重新计算。损坏的检查点以 .damaged 为后缀保留。</translation></message>
<message><source>Give it more epochs, for instance --set epochs={} --schedule cycle.</source><translation>请增加轮数，例如 --set epochs={} --schedule cycle。</translation></message>
<message><source>Nothing: the run begins anew from the start.</source><translation>无：运行从头重新开始。</translation></message>
<message><source>Threads: {} instead of {}. Sums are added in another order, so the bits are not those of a run that was never stopped.</source><translation>线程数：{}，原为 {}。求和次序不同，因此各位与从未停止的运行不同。</translation></message>
<message><source>Learning-rate schedule: planned over {} steps instead of {}.</source><translation>学习率计划：按 {} 步规划，原为 {} 步。</translation></message>
<message><source>Learning-rate schedule: its last rate stays for the {} added steps.</source><translation>学习率计划：增加的 {} 步保持最后的学习率。</translation></message>
<message><source>Learning-rate schedule: begins anew over the {} added steps.</source><translation>学习率计划：在增加的 {} 步上重新开始。</translation></message>
<message><source>Learning-rate schedule: one over {} steps.</source><translation>学习率计划：{} 步共用一个计划。</translation></message>
<message><source>The run was planned over {} steps and gets {}: under the schedule {} the learning rate jumps from {} to {} at step {}.</source><translation>运行原计划 {} 步，现为 {} 步：按 {} 计划，学习率将从 {} 跳到 {}（第 {} 步）。</translation></message>
<message><source>Choose with --schedule: constant keeps the last rate for the added steps, cycle begins the schedule anew over them, stretch makes one schedule over all steps.</source><translation>请用 --schedule 选择：constant 在增加的步中保持最后的学习率，cycle 在这些步上重新开始计划，stretch 让全部步共用一个计划。</translation></message>
<message><source>schedule.lengthened: {}: leave it empty; halftone resume --schedule writes it</source><translation>schedule.lengthened：{}：请留空；由 halftone resume --schedule 写入</translation></message>
<message><source>The schedule was lengthened before, and that part has not come to its end at step {}.</source><translation>该计划之前已延长，且延长的部分尚未到达终点（第 {} 步）。</translation></message>
<message><source>Resume the run to its end first, or take --schedule stretch.</source><translation>请先让运行恢复到终点，或选择 --schedule stretch。</translation></message>
<message><source>--schedule: {}: use constant, cycle or stretch</source><translation>--schedule：{}：请使用 constant、cycle 或 stretch</translation></message>
<message><source>Lengthened</source><translation>延长</translation></message>
<message><source>Written by halftone resume --schedule: how the schedule goes on beyond its first plan. Empty: one schedule over the whole run.</source><translation>由 halftone resume --schedule 写入：计划超出最初步数后如何继续。留空：整个运行共用一个计划。</translation></message>
<message><source>The text has {} words that the vocabulary of the run lacks: {}</source><translation>文本中有 {} 个词不在该运行的词表中：{}</translation></message>
<message><source>The text has {} characters that the vocabulary of the run lacks: {}</source><translation>文本中有 {} 个字符不在该运行的词表中：{}</translation></message>
<message><source>Put the text back as it was, or train a new run on this one.</source><translation>请恢复原来的文本，或用这份文本训练新的运行。</translation></message>
<message><source>{}: {} words of the text are not in the vocabulary of the run and became &lt;unk&gt;: {}</source><translation>{}：文本中有 {} 个词不在该运行的词表中，按 &lt;unk&gt; 处理：{}</translation></message>
<message><source>the columns are {} instead of {}</source><translation>列为 {}，而不是 {}</translation></message>
<message><source>column {} holds numbers instead of words</source><translation>列 {} 现为数值，原为词</translation></message>
<message><source>column {} holds words instead of numbers</source><translation>列 {} 现为词，原为数值</translation></message>
<message><source>column {} holds the words {} instead of {}</source><translation>列 {} 的类别为 {}，而不是 {}</translation></message>
<message><source>a sample has {} instead of {}</source><translation>样本包含 {}，而不是 {}</translation></message>
<message><source>the classes are {} instead of {}</source><translation>类别为 {}，而不是 {}</translation></message>
<message><source>{} is {} instead of {}</source><translation>{} 为 {}，而不是 {}</translation></message>
<message><source>{} has {} values instead of {}</source><translation>{} 有 {} 个取值，而不是 {} 个</translation></message>
<message><source>The data set no longer has the columns or classes of run {}: {}.</source><translation>数据集的列或类别已与运行 {} 的不同：{}。</translation></message>
<message><source>Put the data back as they were, or train a new run on these.</source><translation>请恢复原来的数据，或用现在的数据训练新的运行。</translation></message>
<message><source>Put the data back as they were: a step is computed again from the samples that it had.</source><translation>请恢复原来的数据：重新计算一步需要当时的样本。</translation></message>
<message><source>Put the data back as they were, or evaluate on these with halftone eval RUN --accept-data.</source><translation>请恢复原来的数据，或用 halftone eval RUN --accept-data 在现在的数据上评估。</translation></message>
<message><source>Put the data back as they were, go on with these (halftone sweep --accept-data), or train all runs once more (--again).</source><translation>请恢复原来的数据，或用现在的数据继续（halftone sweep --accept-data），或重新训练全部运行（--again）。</translation></message>
<message><source>Put the data back as they were, or go on with these: halftone resume RUN --accept-data.</source><translation>请恢复原来的数据，或用现在的数据继续：halftone resume RUN --accept-data。</translation></message>
<message><source>The data set has {} training, {} validation and {} test samples; run {} had {}, {} and {}.</source><translation>数据集有 {} 个训练样本、{} 个验证样本和 {} 个测试样本；运行 {} 分别有 {}、{} 和 {} 个。</translation></message>
<message><source>Run {} kept no list of its data files (an earlier version made it), so only columns, classes and numbers of samples were compared.</source><translation>运行 {} 没有保存数据文件清单（由早期版本创建），因此只比较了列、类别和样本数。</translation></message>
<message><source>tokens or classes have other numbers</source><translation>词元或类别的编号不同</translation></message>
<message><source>The data have changed since run {} read them: {}.</source><translation>运行 {} 读取数据之后，数据已改变：{}。</translation></message>
<message><source>The data set has another number of samples, and the checkpoint of step {} lies within an epoch.</source><translation>数据集的样本数已改变，而第 {} 步的检查点位于一轮之中。</translation></message>
<message><source>Resume from a checkpoint at the end of an epoch (--from), or train a new run.</source><translation>请从一轮结束处的检查点恢复（--from），或训练新的运行。</translation></message>
<message><source>Put the data back as they were, resume from a checkpoint at the end of an epoch (--from), or train a new run.</source><translation>请把数据恢复原样、从某轮结束处的检查点恢复（--from），或训练一个新运行。</translation></message>
<message><source>A damaged sample is left out of the evaluation: {}</source><translation>评估时略去一个损坏的样本：{}</translation></message>
<message><source>More than {} samples are damaged; the end of the run counts those of training.</source><translation>损坏的样本超过 {} 个；训练中的总数见运行结束时的统计。</translation></message>
<message><source>Damaged samples of the {} part, which are left out: {}.</source><translation>{} 部分中被略去的损坏样本：{} 个。</translation></message>
<message><source>The folder of run {} is gone: {}</source><translation>运行 {} 的文件夹已不存在：{}</translation></message>
<message><source>{}: the run has gone on meanwhile, to a checkpoint of step {}</source><translation>{}：该运行在此期间已继续训练，到达第 {} 步的检查点</translation></message>
<message><source>Resume it once more.</source><translation>请再恢复一次。</translation></message>
<message><source>Put it back, or take the run from the list: halftone delete {}.</source><translation>请把它放回原处，或从列表中移除该运行：halftone delete {}。</translation></message>
<message><source>{}: the events changed while they were read</source><translation>{}：事件文件在读取期间发生了变化</translation></message>
<message><source>model.freeze: {}: no parameter of the model has such a name</source><translation>model.freeze：{}：模型中没有这样名称的参数</translation></message>
<message><source>Its parameters are {}, ..., {}.</source><translation>其参数为 {}, ..., {}。</translation></message>
<message><source>model.freeze: no parameter is left to train</source><translation>model.freeze：没有可训练的参数</translation></message>
<message><source>Leave the last layer out of the list.</source><translation>请不要把最后一层列入。</translation></message>
<message><source>{}: {} is not a number</source><translation>{}：{} 不是数字</translation></message>
<message><source>{}: use test or validation</source><translation>{}：请用 test 或 validation</translation></message>
<message><source>the data set has no {} part</source><translation>数据集没有 {} 部分</translation></message>
<message><source>{}: the model has no such column</source><translation>{}：模型没有这一列</translation></message>
<message><source>{}: the run's inputs.json is damaged</source><translation>{}：该运行的 inputs.json 已损坏</translation></message>
<message><source>{}: {} was not in the training rows</source><translation>{}：{} 未出现在训练行中</translation></message>
<message><source>column {}: {} was not in the training rows</source><translation>列 {}：{} 未在训练行中出现过</translation></message>
<message><source>column {}: {} is not a number</source><translation>列 {}：{} 不是数值</translation></message>
<message><source>column {}: the value is missing; the row is left out, as in training</source><translation>列 {}：值缺失；与训练时一样略去该行</translation></message>
<message><source>column {}: the value is missing, and the run has no value for it (dataset.missing is refuse)</source><translation>列 {}：值缺失，而该运行没有可用的替代值（dataset.missing 为 refuse）</translation></message>
<message><source>{} fields where the first row has {}</source><translation>有 {} 个字段，而第一行有 {} 个</translation></message>
<message><source>{}: no header: its columns are taken by position</source><translation>{}：没有表头，各列按位置对应</translation></message>
<message><source>{}: its columns are taken by position, since the training table had no header</source><translation>{}：训练所用的表没有表头，因此各列按位置对应</translation></message>
<message><source>{}: two columns are named "{}"</source><translation>{}：有两列同名“{}”</translation></message>
<message><source>Rename or remove one of them.</source><translation>请重命名或删除其中一列。</translation></message>
<message><source>{}: its first row names none of the model's columns: {}</source><translation>{}：第一行不含模型的任何一列：{}</translation></message>
<message><source>{}: columns of the model are missing: {}</source><translation>{}：缺少模型所需的列：{}</translation></message>
<message><source>The first row has: {}.</source><translation>第一行为：{}。</translation></message>
<message><source>temperature: {}: use a number, 0 or more</source><translation>temperature：{}：请使用 0 或更大的数</translation></message>
<message><source>top_k: {}: use a whole number, 0 or more</source><translation>top_k：{}：请使用 0 或更大的整数</translation></message>
<message><source>length: {}: use a whole number, 0 or more</source><translation>length：{}：请使用 0 或更大的整数</translation></message>
<message><source>the model of this run does not take {}</source><translation>该运行的模型不接受{}</translation></message>
<message><source>the model of this run does not fill masks in a text</source><translation>这个运行的模型不能填充文本中的掩码</translation></message>
<message><source>the text has no {} to fill</source><translation>文本中没有可填充的 {}</translation></message>
<message><source>the text has {} tokens; the model reads {} at most</source><translation>文本有 {} 个词元；模型最多读取 {} 个</translation></message>
<message><source>a picture</source><translation>图片</translation></message>
<message><source>a row of a table</source><translation>表格的一行</translation></message>
<message><source>text to continue</source><translation>要续写的文本</translation></message>
<message><source>{}: the run does not record which inputs its model takes</source><translation>{}：该运行没有说明其模型需要什么输入</translation></message>
<message><source>Runs of earlier versions do not record them. Train it again.</source><translation>早期版本的运行没有此信息，请重新训练。</translation></message>
<message><source>{}: damaged</source><translation>{}：已损坏</translation></message>
<message><source>{}: a damaged PNG picture: {}</source><translation>{}：PNG 图片已损坏：{}</translation></message>
<message><source>{}: too large for a picture</source><translation>{}：文件过大，不是图片</translation></message>
<message><source>{}: {} x {} pixels are more than are read ({} million)</source><translation>{}：{} x {} 像素超过可读取的上限（{} 百万）</translation></message>
<message><source>{}: neither a PNG nor a JPEG picture</source><translation>{}：既不是 PNG 也不是 JPEG 图片</translation></message>
<message><source>Run</source><translation>运行</translation></message>
<message><source>Data set and model</source><translation>数据集与模型</translation></message>
<message><source>State</source><translation>状态</translation></message>
<message><source>Test loss</source><translation>测试损失</translation></message>
<message><source>Test {}</source><translation>测试 {}</translation></message>
<message><source>Steps</source><translation>步数</translation></message>
<message><source>Skipped steps</source><translation>跳过的步数</translation></message>
<message><source>Growths of the loss scale</source><translation>损失缩放增长次数</translation></message>
<message><source>Mean time per step</source><translation>平均每步用时</translation></message>
<message><source>Training time</source><translation>训练用时</translation></message>
<message><source>Size on disk</source><translation>磁盘占用</translation></message>
<message><source>Peak memory</source><translation>峰值内存</translation></message>
<message><source>Parameters</source><translation>参数量</translation></message>
<message><source>Continues run</source><translation>接续自运行</translation></message>
<message><source>Tags</source><translation>标签</translation></message>
<message><source>Notes</source><translation>备注</translation></message>
<message><source>Each pixel shows the smallest and the largest value of its steps.</source><translation>每个像素对应的各步中，绘出最小值和最大值。</translation></message>
<message><source>Training loss</source><translation>训练损失</translation></message>
<message><source>{} in training</source><translation>训练中的 {}</translation></message>
<message><source>Loss scale</source><translation>损失缩放</translation></message>
<message><source>Red marks on the axis are skipped steps.</source><translation>坐标轴上的红色标记为跳过的步。</translation></message>
<message><source>Gradient norm</source><translation>梯度范数</translation></message>
<message><source>Unscaled. A cross marks a step whose norm was not finite.</source><translation>已去除缩放。叉号表示该步的范数不是有限数。</translation></message>
<message><source>The loss is {}; step skipped, scale {} to {}.</source><translation>损失为 {}；跳过该步，缩放 {} → {}。</translation></message>
<message><source>A gradient overflowed; step skipped, scale {} to {}.</source><translation>梯度溢出；跳过该步，缩放 {} → {}。</translation></message>
<message><source>Calibrating: the scaler is still looking for a scale that fits.</source><translation>校准中：缩放器仍在寻找合适的缩放因子。</translation></message>
<message><source>Normal: the scale had grown past the largest safe one.</source><translation>正常：缩放因子已增长到超过最大安全值。</translation></message>
<message><source>Calibrating: the scale was still too large. More skips until it is {}, the default: about {}.</source><translation>校准中：缩放当时仍过大。降到默认值 {} 大约还要跳过 {} 步。</translation></message>
<message><source>Persistent: the gradients are not finite even at scale {}, so look for a NaN in the backward pass.</source><translation>持续：缩放降到 {} 时梯度仍不是有限值，请检查反向传播中是否出现 NaN。</translation></message>
<message><source>Persistent: lowering the scale cannot fix a NaN in the forward pass.</source><translation>持续：降低缩放无法修复前向计算中的 NaN。</translation></message>
<message><source>Skipped steps: {}</source><translation>跳过的步：{}</translation></message>
<message><source>What happened</source><translation>发生了什么</translation></message>
<message><source>What it means</source><translation>含义</translation></message>
<message><source>{} more are not listed.</source><translation>另有 {} 项未列出。</translation></message>
<message><source>Warnings and errors: {}</source><translation>警告与错误：{}</translation></message>
<message><source>Evaluations</source><translation>评估</translation></message>
<message><source>Epoch</source><translation>轮</translation></message>
<message><source>Validation loss</source><translation>验证损失</translation></message>
<message><source>Settings that differ</source><translation>不同的设置</translation></message>
<message><source>from the preset</source><translation>取自预设</translation></message>
<message><source>Setting</source><translation>设置</translation></message>
<message><source>Machine of this report</source><translation>生成本报告的机器</translation></message>
<message><source>Processor</source><translation>处理器</translation></message>
<message><source>Cores</source><translation>核心数</translation></message>
<message><source>Memory</source><translation>内存</translation></message>
<message><source>GPU</source><translation>GPU</translation></message>
<message><source>Halftone: run {}</source><translation>Halftone：运行 {}</translation></message>
<message><source>Halftone: comparison of {} runs</source><translation>Halftone：{} 个运行的对比</translation></message>
<message><source>Settings: {}</source><translation>设置：{}</translation></message>
<message><source>Export it as fp16, or as safetensors.</source><translation>请以 fp16 或 safetensors 导出。</translation></message>
<message><source>Export it as safetensors.</source><translation>请以 safetensors 导出。</translation></message>
<message><source>Export the model as fp32.</source><translation>请以 fp32 导出模型。</translation></message>
<message><source>Give a file that halftone export --to run wrote.</source><translation>请给出由 halftone export --to run 写出的文件。</translation></message>
<message><source>Give the path of a file.</source><translation>请给出文件的路径。</translation></message>
<message><source>ONNX: a graph is fp32 or fp16, not {}</source><translation>ONNX：计算图为 fp32 或 fp16，而非 {}</translation></message>
<message><source>Save the model's state_dict() with torch.save, or as safetensors.</source><translation>请用 torch.save 保存模型的 state_dict()，或保存为 safetensors。</translation></message>
<message><source>The model's weights take {} MiB; an ONNX file holds at most 2 GiB.</source><translation>模型权重占 {} MiB；ONNX 文件最多容纳 2 GiB。</translation></message>
<message><source>This model cannot be exported to ONNX: there are no nodes for this form of {}.</source><translation>该模型无法导出为 ONNX：运算 {} 的这种形式没有对应的节点。</translation></message>
<message><source>This model cannot be exported to ONNX: there are no nodes for {}.</source><translation>该模型无法导出为 ONNX：运算 {} 没有对应的节点。</translation></message>
<message><source>This model cannot be exported to ONNX: {} is the name of an input or output there, and of a parameter of the model.</source><translation>该模型无法导出为 ONNX：{} 在其中是一个输入或输出的名称，同时又是模型的一个参数的名称。</translation></message>
<message><source>This model cannot be exported to ONNX: with inputs of other sizes it computes something else.</source><translation>该模型无法导出为 ONNX：输入尺寸不同时，它的计算也不同。</translation></message>
<message><source>a tensor in it has more elements than any machine can hold</source><translation>其中一个张量的元素数超出任何机器的容量</translation></message>
<message><source>a tensor in it has {} dimensions, the most is 8</source><translation>其中一个张量有 {} 维，最多为 8 维</translation></message>
<message><source>a tensor in it reads beyond its storage {}</source><translation>其中一个张量读取范围超出其存储 {}</translation></message>
<message><source>a tensor or storage in it has a negative size</source><translation>其中一个张量或存储的大小为负</translation></message>
<message><source>a tensor or storage in it is not described the way PyTorch does it</source><translation>其中一个张量或存储的描述方式与 PyTorch 不符</translation></message>
<message><source>it calls {} differently from PyTorch</source><translation>它对 {} 的调用方式与 PyTorch 不符</translation></message>
<message><source>it ends too early</source><translation>内容过早结束</translation></message>
<message><source>it has an entry with an unsafe name: {}</source><translation>其中有名称不安全的条目：{}</translation></message>
<message><source>it has an instruction ({}) that torch.save does not write</source><translation>其中有 torch.save 不会写出的指令（{}）</translation></message>
<message><source>it has data.pkl twice</source><translation>其中 data.pkl 出现两次</translation></message>
<message><source>it has no settings</source><translation>其中没有设置</translation></message>
<message><source>it has the form that PyTorch wrote before version 1.6</source><translation>它是 PyTorch 1.6 之前的旧格式</translation></message>
<message><source>it has too many entries</source><translation>其中的条目过多</translation></message>
<message><source>it has more than {} events for {} recorded steps</source><translation>其中的事件超过 {} 个，而只记录了 {} 步</translation></message>
<message><source>it has too many values</source><translation>其中的值过多</translation></message>
<message><source>it holds no tensors</source><translation>其中没有张量</translation></message>
<message><source>it names {}, which is neither a tensor nor a plain value</source><translation>它引用了 {}，既不是张量也不是普通值</translation></message>
<message><source>it unpacks to more than a file of {} bytes can contain</source><translation>解压后的大小远超 {} 字节的文件所能对应的范围</translation></message>
<message><source>its pickle is not of protocol 2 to 5</source><translation>其 pickle 协议不是 2 到 5</translation></message>
<message><source>its stack is damaged</source><translation>其 pickle 栈已损坏</translation></message>
<message><source>its storage {} is missing</source><translation>缺少存储 {}</translation></message>
<message><source>its storage {} does not have the stated length</source><translation>存储 {} 的长度与声明不符</translation></message>
<message><source>its storage {} is of two types</source><translation>存储 {} 有两种类型</translation></message>
<message><source>its tensors are larger than the file; repacked archives are not read</source><translation>其张量大于文件本身；不支持重新压缩过的归档</translation></message>
<message><source>its tensors would take more than {} MiB of memory</source><translation>其张量将占用超过 {} MiB 内存</translation></message>
<message><source>its value is not a dict of tensors</source><translation>其内容不是由张量组成的字典</translation></message>
<message><source>its values do not have the types that they are used as</source><translation>其中的值与使用方式类型不符</translation></message>
<message><source>the zip archive holds no data.pkl</source><translation>该 zip 归档中没有 data.pkl</translation></message>
<message><source>{} holds values beyond 65504, which fp16 cannot hold</source><translation>{} 含有超过 65504 的值，fp16 无法表示</translation></message>
<message><source>{} is a link or a device</source><translation>{} 是链接或设备文件</translation></message>
<message><source>{} does not have the stated length</source><translation>{} 的长度与声明不符</translation></message>
<message><source>{} appears twice, or is not part of a run</source><translation>{} 重复出现，或不属于一次运行</translation></message>
<message><source>{}: cannot be read as PyTorch weights: {}</source><translation>{}：无法作为 PyTorch 权重读取：{}</translation></message>
<message><source>{}: not a run that can be imported: {}</source><translation>{}：不是可以导入的运行：{}</translation></message>
<message><source>{}: not a valid zip archive: {}</source><translation>{}：不是完好的 zip 归档：{}</translation></message>
<message><source>{}: not the folder of a run</source><translation>{}：不是运行的文件夹</translation></message>
<message><source>it cannot be opened</source><translation>无法打开</translation></message>
<message><source>its directory is damaged</source><translation>其目录已损坏</translation></message>
<message><source>it is encrypted</source><translation>它已加密</translation></message>
<message><source>an entry has no readable name</source><translation>有一个条目的名称无法读取</translation></message>
<message><source>an entry cannot be unpacked</source><translation>有一个条目无法解压</translation></message>
<message><source>an entry does not have the stated length</source><translation>有一个条目的长度与声明不符</translation></message>
<message><source>an entry is too long</source><translation>有一个条目过长</translation></message>
<message><source>File with the initial weights: safetensors, or PyTorch's .pt or .pth. Empty: random weights from the seed.</source><translation>初始权重的文件：safetensors，或 PyTorch 的 .pt、.pth。留空：按种子随机生成。</translation></message>
<message><source>Weights (safetensors)</source><translation>权重（safetensors）</translation></message>
<message><source>PyTorch (model.py)</source><translation>PyTorch（model.py）</translation></message>
<message><source>The network as modules of PyTorch, and the weights of a checkpoint beside it.</source><translation>网络写成 PyTorch 的模块，检查点的权重放在旁边。</translation></message>
<message><source>The network has more weights than the 2 GiB of an ONNX file hold.</source><translation>网络的权重超过了 ONNX 文件所能容纳的 2 GiB。</translation></message>
<message><source>{} runs again where no line of a text can name it.</source><translation>{} 再次运行之处，文本中没有一行能写出它的名称。</translation></message>
<message><source>{}: its initial weights cannot be written as a text.</source><translation>{}：它的初始权重无法写成文本。</translation></message>
<message><source>A module that runs again with other layers needs conditions.</source><translation>再次运行时层不同的模块需要条件。</translation></message>
<message><source>No text without options makes this network.</source><translation>没有不带选项的文本能写出这个网络。</translation></message>
<message><source>Network (text)</source><translation>网络（文本）</translation></message>
<message><source>The network as a text that can be changed and trained.</source><translation>网络写成文本，可以修改和训练。</translation></message>
<message><source>{} has no text in the network notation.</source><translation>{} 没有网络记法的文本。</translation></message>
<message><source>The weights of a checkpoint under PyTorch's names.</source><translation>检查点的权重，使用 PyTorch 的参数名。</translation></message>
<message><source>ONNX model</source><translation>ONNX 模型</translation></message>
<message><source>The model of a checkpoint for onnxruntime and other programs.</source><translation>检查点的模型，供 onnxruntime 等程序使用。</translation></message>
<message><source>TensorBoard</source><translation>TensorBoard</translation></message>
<message><source>A folder with every figure of every step and epoch, for TensorBoard.</source><translation>含每一步和每一轮全部指标的文件夹，供 TensorBoard 使用。</translation></message>
<message><source>Steps (CSV)</source><translation>各步数据（CSV）</translation></message>
<message><source>The figures of every step as a table.</source><translation>每一步的指标，以表格形式。</translation></message>
<message><source>Figures (JSON)</source><translation>指标（JSON）</translation></message>
<message><source>Settings, figures, epochs, events and every step.</source><translation>设置、指标、各轮、事件以及每一步。</translation></message>
<message><source>Whole run</source><translation>整个运行</translation></message>
<message><source>Everything that the run has on disk in one file, to be imported on another machine.</source><translation>该运行在磁盘上的全部内容，合成一个文件，可在另一台机器上导入。</translation></message>
<message><source>its events or notes are longer than those of any run</source><translation>其事件或备注的长度超出任何运行</translation></message>
<message><source>{}: a report is a file that ends in .html or .pdf</source><translation>{}：报告文件须以 .html 或 .pdf 结尾</translation></message>
<message><source>{}: another program replaced, removed or cut short the record while it was being read</source><translation>{}：读取过程中，记录被其他程序替换、删除或截短</translation></message>
<message><source>Open the run again, and leave its folder alone while it trains.</source><translation>请重新打开该运行，训练期间不要改动其文件夹。</translation></message>
<message><source>{}: another program replaced or cut short the events while they were being read</source><translation>{}：读取过程中，事件文件被其他程序替换或截短</translation></message>
<message><source>{}: not a plain file</source><translation>{}：不是普通文件</translation></message>
<message><source>{}: a line of the events is longer than 1 MiB</source><translation>{}：事件文件中有一行超过 1 MiB</translation></message>
<message><source>The program that trained this run ended without finishing it.</source><translation>训练该运行的程序未完成就退出了。</translation></message>
<message><source>Give a folder in which a run was made, with its config.json and events.jsonl.</source><translation>请指定一个保存过运行的文件夹，其中应有 config.json 和 events.jsonl。</translation></message>
<message><source>Run {} was trained by {}; only that program can continue it.</source><translation>运行 {} 由 {} 训练，只有该程序能够继续它。</translation></message>
<message><source>Cancelled.</source><translation>已取消。</translation></message>
<message><source>run {} is not among the stored runs</source><translation>保存的运行中没有运行 {}</translation></message>
<message><source>The autoencoder needs images whose sides are multiples of 4, not {} x {}.</source><translation>自编码器要求图像的边长是 4 的倍数，而不是 {} x {}。</translation></message>
<message><source>The DCGAN needs square images whose side is 4, 5, 6 or 7, doubled at least twice (16, 28, 32, 64), not {} x {}.</source><translation>DCGAN 要求正方形图像，边长为 4、5、6 或 7 至少翻倍两次（16、28、32、64），而不是 {} x {}。</translation></message>
<message><source>Autoencoder</source><translation>自编码器</translation></message>
<message><source>Compresses an image to a short code and reconstructs it from that.</source><translation>把图像压缩成一段短编码，再由编码重新绘制。</translation></message>
<message><source>Code</source><translation>编码长度</translation></message>
<message><source>Length of the code that an image is compressed to.</source><translation>图像被压缩成多少个数。</translation></message>
<message><source>Channels</source><translation>通道数</translation></message>
<message><source>Channels of the first convolution; the second has twice as many.</source><translation>第一个卷积的通道数；第二个是它的两倍。</translation></message>
<message><source>DCGAN</source><translation>DCGAN</translation></message>
<message><source>One network draws images from random numbers, another tells them from real ones; each learns from the other.</source><translation>一个网络由随机数生成图像，另一个分辨真假；两者互相学习。</translation></message>
<message><source>Latent numbers</source><translation>隐向量长度</translation></message>
<message><source>Number of random numbers that an image is drawn from.</source><translation>生成一幅图像所用的随机数个数。</translation></message>
<message><source>Channels of the largest feature maps; each halving of the side doubles them.</source><translation>最大的中间特征图的通道数；边长每减半一次，通道数翻倍。</translation></message>
<message><source>Reconstruction</source><translation>重建</translation></message>
<message><source>Reconstructs each image from a short code.</source><translation>由短编码重新绘制每幅图像。</translation></message>
<message><source>Adversarial pair</source><translation>生成对抗网络</translation></message>
<message><source>A network learns to draw images that another takes for real.</source><translation>一个网络学习生成另一个网络会当真的图像。</translation></message>
<message><source>Generator loss</source><translation>生成器损失</translation></message>
<message><source>An adversarial pair has no best evaluation, so plateau and early stopping cannot work.</source><translation>生成对抗网络没有“最佳”评估，因此无法等待更好的结果。</translation></message>
<message><source>Use another schedule than plateau, and no early stopping.</source><translation>请改用 plateau 以外的学习率策略，并关闭早停。</translation></message>
<message><source>A picture could not be compressed: {}</source><translation>图像无法压缩保存：{}</translation></message>
<message><source>the model of this run does not draw pictures</source><translation>这次运行的模型不生成图像</translation></message>
<message><source>{} pictures: draw 1 to {}</source><translation>{} 幅图像：请取 1 到 {}</translation></message>
<message><source>-: a dash negates the term right behind it</source><translation>-：减号表示否定紧跟其后的条件</translation></message>
<message><source>Write -word.</source><translation>请写成 -词。</translation></message>
<message><source>{}: the closing quote is missing</source><translation>{}：缺少右引号</translation></message>
<message><source>Write &quot;words in quotes&quot;.</source><translation>请写成 &quot;引号中的词&quot;。</translation></message>
<message><source>{}: there is nothing to compare with</source><translation>{}：没有可比较的值</translation></message>
<message><source>Write a value right behind the operator, in quotes if it has spaces.</source><translation>请在运算符后紧接着写值，含空格时加引号。</translation></message>
<message><source>{}: {} is true or false</source><translation>{}：{} 的值是 true 或 false</translation></message>
<message><source>Write {}=true or {}=false.</source><translation>请写成 {}=true 或 {}=false。</translation></message>
<message><source>{}: {} is a text, and texts have no order</source><translation>{}：{} 是文本，不能比较大小</translation></message>
<message><source>Use =, != or ~ (contains).</source><translation>请使用 =、!= 或 ~（包含）。</translation></message>
<message><source>{}: {} is a number</source><translation>{}：{} 是数值</translation></message>
<message><source>Write a number right behind the operator.</source><translation>请在运算符后紧接着写数值。</translation></message>
<message><source>{}: a field is missing in front of the operator</source><translation>{}：运算符前缺少字段</translation></message>
<message><source>Write FIELD=VALUE, or put the word in quotes.</source><translation>请写成 字段=值，或给该词加引号。</translation></message>
<message><source>{}: several settings have this name: {}</source><translation>{}：有多个设置叫这个名字：{}</translation></message>
<message><source>Write more of the path.</source><translation>请写出更完整的路径。</translation></message>
<message><source>{}: there is no such setting or result</source><translation>{}：没有这个设置或结果</translation></message>
<message><source>Use the path of a setting (optimizer.lr) or a result (steps, test_loss); put other words that contain operators in quotes.</source><translation>请使用设置的路径（optimizer.lr）或结果（steps、test_loss）；其他带符号的词请加引号。</translation></message>
<message><source>Did you mean {}?</source><translation>是否指 {}？</translation></message>
<message><source>Name</source><translation>名称</translation></message>
<message><source>Starred</source><translation>星标</translation></message>
<message><source>Started</source><translation>开始时间</translation></message>
<message><source>Diverged at step</source><translation>发散步</translation></message>
<message><source>Mean speed</source><translation>平均速度</translation></message>
<message><source>Resumed from</source><translation>恢复自</translation></message>
<message><source>Test metric</source><translation>测试指标</translation></message>
<message><source>Histograms every</source><translation>直方图间隔</translation></message>
<message><source>Keeps exponent histograms of gradients, activations, weights and updates by layer after this many steps (0 = only on demand). auto: every 50 steps, at most 4 a second and 2,000 in a run, which costs a large network at most 1 % of its time and a small one at most 5 %. Results do not change.</source><translation>每隔这么多步按层保存梯度、激活、权重和更新量的指数直方图（0 = 仅在需要时）。auto：每 50 步一次，每秒最多 4 次，一次运行最多 2,000 次；大网络最多慢 1 %，小网络最多慢 5 %。结果不变。</translation></message>
<message><source>Armed</source><translation>布防</translation></message>
<message><source>Examines a skipped step before the next update. On a GPU this costs a synchronisation in every step.</source><translation>在下一次更新之前检查被跳过的步。在 GPU 上每步会多一次同步。</translation></message>
<message><source>{}: damaged; what follows is left out</source><translation>{}：已损坏；其后的内容已略去</translation></message>
<message><source>{}: no run is there</source><translation>{}：那里没有运行</translation></message>
<message><source>Give a file that halftone export --to run wrote, a folder with event files of TensorBoard, or a CSV file with a row for each step.</source><translation>请给出 halftone export --to run 写的文件、含 TensorBoard 事件文件的文件夹，或每步一行的 CSV 文件。</translation></message>
<message><source>{}: more than {} runs</source><translation>{}：多于 {} 个运行</translation></message>
<message><source>Give a folder below it.</source><translation>请给出它下面的某个文件夹。</translation></message>
<message><source>{}: its event files have no scalars</source><translation>{}：其事件文件中没有标量</translation></message>
<message><source>{}: not a log that can be imported: {}</source><translation>{}：不是可以导入的日志：{}</translation></message>
<message><source>no table</source><translation>没有表格</translation></message>
<message><source>no figures</source><translation>没有数据</translation></message>
<message><source>Give a CSV file with names in its first row, and below a row for each step.</source><translation>请给出首行为列名、其下每步一行的 CSV 文件。</translation></message>
<message><source>{}: the log has no figures of steps</source><translation>{}：日志中没有各步的数据</translation></message>
<message><source>{}: more than {} figures</source><translation>{}：数据多于 {} 个</translation></message>
<message><source>TensorBoard folder</source><translation>TensorBoard 文件夹</translation></message>
<message><source>Writes the figures of the run as they come into a folder of its own below this one, where TensorBoard shows them. At most 20 steps a second, and every skipped one. Empty: not.</source><translation>训练时把运行的各项数据写入此文件夹下它自己的子文件夹，供 TensorBoard 显示。每秒最多 20 步，另加所有被跳过的步。留空：不写。</translation></message>
<message><source>the scale must be a positive number, got {}</source><translation>缩放因子必须是正数，得到的是 {}</translation></message>
<message><source>{}: the histograms of the run are damaged</source><translation>{}：本次运行的直方图文件已损坏</translation></message>
<message><source>Restore the file from a copy; the run does not need it.</source><translation>请从副本恢复该文件；运行本身不需要它。</translation></message>
<message><source>{}: the histograms were written by another version of this program</source><translation>{}：直方图由本程序的其他版本写入</translation></message>
<message><source>{}: cannot open the histograms: {}</source><translation>{}：无法打开直方图：{}</translation></message>
<message><source>Give the folder of a run that kept some (instruments.histograms_every).</source><translation>请给出保存了直方图的运行的文件夹（instruments.histograms_every）。</translation></message>
<message><source>histograms {} were requested; the run has {}</source><translation>请求第 {} 份直方图，该运行共有 {} 份</translation></message>
<message><source>Run {} was trained by {}, so its steps cannot be computed again here.</source><translation>运行 {} 由 {} 训练，无法在此重新计算其训练步。</translation></message>
<message><source>Run {} has no step {}: it has {} steps.</source><translation>运行 {} 没有第 {} 步：它共有 {} 步。</translation></message>
<message><source>Run {} continued run {} and kept no checkpoint before step {}.</source><translation>运行 {} 接续自运行 {}，在第 {} 步之前没有保留检查点。</translation></message>
<message><source>Step {} of run {} cannot be computed again: its twin changed it at step {}.</source><translation>无法重新计算第 {} 步（运行 {}）：其孪生运行在第 {} 步改变了它的状态。</translation></message>
<message><source>Arm the run (instruments.armed) to keep what its skipped steps need.</source><translation>请为运行布防（instruments.armed），以保留被跳过的步所需的状态。</translation></message>
<message><source>No temporary folder could be made in {}: {}.</source><translation>无法在 {} 中创建临时文件夹：{}。</translation></message>
<message><source>The run keeps no further histograms: {}</source><translation>本次运行不再保存直方图：{}</translation></message>
<message><source>--scale: {}: use a number above 0</source><translation>--scale：{}：请使用大于 0 的数</translation></message>
<message><source>--scale: only gradients are multiplied by the loss scale</source><translation>--scale：只有梯度会乘以损失缩放因子</translation></message>
<message><source>--kind: {}: use gradients, activations, weights or updates</source><translation>--kind：{}：请使用 gradients、activations、weights 或 updates</translation></message>
<message><source>the run has no histograms</source><translation>该运行没有保存直方图</translation></message>
<message><source>Compute the step again with --shadow, or train with instruments.histograms_every.</source><translation>用 --shadow 重新计算这一步，或在训练时设置 instruments.histograms_every。</translation></message>
<message><source>{}: the record of the twin is damaged</source><translation>{}：孪生对比的记录已损坏</translation></message>
<message><source>{}: cannot open the record of the twin: {}</source><translation>{}：无法打开孪生对比的记录：{}</translation></message>
<message><source>{}: the twin was written by another version of this program</source><translation>{}：由本程序的其他版本写成的孪生对比</translation></message>
<message><source>rows {} to {} of the twin were requested; there are {}</source><translation>请求孪生对比的第 {} 至 {} 行，但只有 {} 行</translation></message>
<message><source>The two runs of a twin must have the same model and start at the same step.</source><translation>孪生的两个运行必须使用相同的模型，并从同一步开始。</translation></message>
<message><source>Run {} is not the second run of a twin.</source><translation>运行 {} 不是孪生对比中的第二个运行。</translation></message>
<message><source>two names of precisions, separated by a comma</source><translation>两个精度名称，以逗号分隔</translation></message>
<message><source>Forced types</source><translation>强制类型</translation></message>
<message><source>Types of modules and operations over all other settings, such as {"layer1": "fp32", "fc:linear": "bf16"}. The most specific key decides.</source><translation>为模块和算子指定类型，优先于其他所有设置，例如 {"layer1": "fp32", "fc:linear": "bf16"}。最具体的键生效。</translation></message>
<message><source>use an object of modules and operations, each with a type</source><translation>请使用对象：每个模块或算子对应一个类型</translation></message>
<message><source>name a module, an operation, or module:operation</source><translation>请写明模块、算子，或“模块:算子”</translation></message>
<message><source>{} is not an operation whose type can be forced; the ops command lists them</source><translation>{} 不是可强制类型的算子；ops 命令会列出它们</translation></message>
<message><source>the model has no such module; did you mean {}?</source><translation>模型中没有这个模块；您是指 {} 吗？</translation></message>
<message><source>the model has no module {}</source><translation>模型中没有模块 {}</translation></message>
<message><source>neither a module of the model nor an operation whose type can be forced</source><translation>既不是模型的模块，也不是可强制类型的算子</translation></message>
<message><source>{}: a gradient is still not finite.</source><translation>{}：仍有非有限的梯度。</translation></message>
<message><source>{}: all gradients are finite, which they were not before; the step's time changes by {} %.</source><translation>{}：梯度此前有非有限值，现在全部有限；单步时间变化 {} %。</translation></message>
<message><source>{}: the gradient error falls from {} to {}; the step's time changes by {} %.</source><translation>{}：梯度误差从 {} 降到 {}；单步时间变化 {} %。</translation></message>
<message><source>{}: the gradient error rises from {} to {}; the step's time changes by {} %.</source><translation>{}：梯度误差从 {} 升到 {}；单步时间变化 {} %。</translation></message>
<message><source>{}: the gradient error stays at {}; the step's time changes by {} %.</source><translation>{}：梯度误差保持在 {}；单步时间变化 {} %。</translation></message>
<message><source>This is not an X-ray of a step: {}</source><translation>这不是某一步的 X 光记录：{}</translation></message>
<message><source>{} could not be made: {}</source><translation>无法创建 {}：{}</translation></message>
<message><source>The search for a precision was stopped.</source><translation>精度搜索已停止。</translation></message>
<message><source>With every operation in FP32 the error of the gradients is {}, above the tolerance of {}.</source><translation>即使所有算子都用 FP32，梯度误差仍为 {}，超过容差 {}。</translation></message>
<message><source>Intact</source><translation>保持正确</translation></message>
<message><source>BCE of probabilities</source><translation>概率的 BCE</translation></message>
<message><source>where with mixed dtypes</source><translation>混合类型的 where</translation></message>
<message><source>Composed</source><translation>逐步运算</translation></message>
<message><source>NaN pixel</source><translation>NaN 像素</translation></message>
<message><source>Infinite target</source><translation>无穷大目标</translation></message>
<message><source>Attention scores × 300</source><translation>注意力分数 × 300</translation></message>
<message><source>NaN weight</source><translation>NaN 权重</translation></message>
<message><source>NaN embedding row</source><translation>NaN 嵌入行</translation></message>
<message><source>NaN carried state</source><translation>NaN 传递状态</translation></message>
<message><source>Log of 0</source><translation>对 0 取对数</translation></message>
<message><source>Normalised zero vector</source><translation>对零向量做归一化</translation></message>
<message><source>Square root at 0</source><translation>0 处的平方根</translation></message>
<message><source>exp(12) in FP16</source><translation>FP16 中的 exp(12)</translation></message>
<message><source>Sum of 100,000 ones in FP16</source><translation>FP16 中 100,000 个 1 求和</translation></message>
<message><source>Adam with epsilon 0</source><translation>epsilon 为 0 的 Adam</translation></message>
<message><source>Clip before unscaling</source><translation>反缩放前裁剪</translation></message>
<message><source>Broken on purpose: clips the gradients while they still carry the loss scale, so the limit is too tight by that factor.</source><translation>故意出错：在梯度仍带有损失缩放时裁剪，上限因此紧了同样的倍数。</translation></message>
<message><source>Update in each micro-batch</source><translation>每个微批次都更新缩放</translation></message>
<message><source>Broken on purpose: changes the loss scale after each micro-batch of an accumulated step, so that gradients of different scales are added up.</source><translation>故意出错：在累积步的每个微批次之后调整损失缩放，使不同缩放的梯度被相加。</translation></message>
<message><source>Resume without the scaler</source><translation>恢复时丢弃缩放器</translation></message>
<message><source>Broken on purpose: a resumed run begins again with the initial scale.</source><translation>故意出错：恢复的运行重新从初始缩放开始。</translation></message>
<message><source>Broken loss</source><translation>错误的损失</translation></message>
<message><source>Broken on purpose: binary cross entropy of 16-bit probabilities, or a target that where builds in another dtype than the logits.</source><translation>故意出错：对 16 位概率计算二元交叉熵，或用 where 以不同于 logits 的类型填充。</translation></message>
<message><source>Broken norms</source><translation>错误的归一化</translation></message>
<message><source>Broken on purpose: batch and layer norm as single 16-bit operations, with the variance as E[x²] − E[x]² and epsilon added in 16 bits.</source><translation>故意出错：批归一化和层归一化由单个 16 位运算组成，方差为 E[x²] − E[x]²，epsilon 也以 16 位相加。</translation></message>
<message><source>Epsilon of broken norms</source><translation>错误归一化的 epsilon</translation></message>
<message><source>Epsilon of composed norms (0 = that of each layer). 1e-8 is 0 in fp16.</source><translation>逐步归一化的 epsilon（0 = 各层自己的值）。1e-8 在 fp16 中为 0。</translation></message>
<message><source>Planted fault</source><translation>埋入的故障</translation></message>
<message><source>Broken on purpose: one step has this fault, for the Skips page to find.</source><translation>故意出错：某一步带有这个故障，供在“跳过”页中查找。</translation></message>
<message><source>Planted at step</source><translation>埋入的步</translation></message>
<message><source>The step that has the fault, counted from 1.</source><translation>带有故障的步，从 1 计数。</translation></message>
<message><source>step</source><translation>步</translation></message>
<message><source>Planted where</source><translation>埋入位置</translation></message>
<message><source>The module, the parameter (name, or name:row) or the sample's position in the batch. Empty: the first that fits.</source><translation>模块、参数（名称或 名称:行）或样本在批次中的位置。留空：第一个适用的。</translation></message>
<message><source>use it with optimizer.kind adam or adamw</source><translation>请与 optimizer.kind adam 或 adamw 一起使用</translation></message>
<message><source>use it with optimizer.weight_decay 0, or with adamw</source><translation>请与 optimizer.weight_decay 0 一起使用，或使用 adamw</translation></message>
<message><source>{}: {}: {}</source><translation>{}：{}：{}</translation></message>
<message><source>the model carries no state from step to step</source><translation>模型不在步之间传递状态</translation></message>
<message><source>leave it empty: the operation is inserted before the model's output</source><translation>请留空：该运算位于模型输出之前</translation></message>
<message><source>only numbers to predict can be infinite</source><translation>只有数值目标才能为无穷大</translation></message>
<message><source>the data set has no pixels and no numbers</source><translation>数据集既没有像素也没有数值</translation></message>
<message><source>use the position of a sample in the batch, from 0</source><translation>请使用样本在批次中的位置，从 0 开始</translation></message>
<message><source>use name or name:row, the row a whole number</source><translation>请使用 名称 或 名称:行，行为整数</translation></message>
<message><source>the data set has no tokens and no ids</source><translation>数据集既没有词元也没有 id</translation></message>
<message><source>name the embedding in teach.plant.where</source><translation>请在 teach.plant.where 中指定嵌入</translation></message>
<message><source>the model has no such parameter</source><translation>模型没有这个参数</translation></message>
<message><source>the parameter has {} rows</source><translation>该参数有 {} 行</translation></message>
<message><source>the batch has {} samples</source><translation>该批次有 {} 个样本</translation></message>
<message><source>the model has no attention</source><translation>模型没有注意力</translation></message>
<message><source>no attention is computed in this module</source><translation>该模块中没有注意力计算</translation></message>
<message><source>teach.loss: {}: the task {} has no such loss</source><translation>teach.loss：{}：任务 {} 没有这种损失</translation></message>
<message><source>Loss scale: begins again at {}, on purpose (teach.resume_without_scaler); {} was saved.</source><translation>损失缩放：按设置故意从 {} 重新开始（teach.resume_without_scaler）；保存的值为 {}。</translation></message>
<message><source>Broken on purpose</source><translation>故意出错</translation></message>
<message><source>The record holds no steps yet.</source><translation>记录中还没有步。</translation></message>
<message><source>{} would have applied gradients that are not finite at step {}: it never skips.</source><translation>{} 会在第 {} 步应用非有限的梯度：它从不跳过。</translation></message>
<message><source>{} would have skipped {} of {} steps, the recorded policy {}; for {} of them the record cannot tell, since the largest gradient is not known.</source><translation>{} 会跳过 {} 步（共 {} 步），实际策略跳过了 {} 步；其中 {} 步因最大梯度未知而无法判断。</translation></message>
<message><source>The recorded policy skipped {} of {} steps.</source><translation>实际策略跳过了 {} 步（共 {} 步）。</translation></message>
<message><source>{} would have skipped the same {} of {} steps.</source><translation>{} 会跳过相同的 {} 步（共 {} 步）。</translation></message>
<message><source>{} would have skipped {} of {} steps, the recorded policy {}; from step {} on the gradients of the recorded run stand for its own.</source><translation>{} 会跳过 {} 步（共 {} 步），实际策略跳过了 {} 步；从第 {} 步起以所记录运行的梯度代替它自己的梯度。</translation></message>
<message><source>No dynamic policy here would have skipped fewer steps than the recorded one: {} of {}.</source><translation>这里没有动态策略会比实际策略跳过更少的步：{} 步（共 {} 步）。</translation></message>
<message><source>use {}</source><translation>请使用 {}</translation></message>
<message><source>FP16 gradients without loss scaling</source><translation>FP16 梯度没有损失缩放</translation></message>
<message><source>Gradients below 2⁻²⁵ become 0 in FP16, and weights with small gradients stop learning.</source><translation>小于 2⁻²⁵ 的梯度在 FP16 中变为 0，梯度小的权重会停止学习。</translation></message>
<message><source>A loss scaler with BF16</source><translation>BF16 使用了损失缩放</translation></message>
<message><source>A loss scaler with FP32</source><translation>FP32 使用了损失缩放</translation></message>
<message><source>BF16 and FP32 hold numbers down to about 1e-38, so nothing is lost that a scale could save; the checks cost time.</source><translation>BF16 和 FP32 可表示小至约 1e-38 的数，缩放挽救不了任何值；检查却要花时间。</translation></message>
<message><source>The loss scale never grows: the growth interval is {} steps, the run {}</source><translation>损失缩放不会增长：增长间隔为 {} 步，运行只有 {} 步</translation></message>
<message><source>After an overflow the scale stays low to the end, and small gradients underflow.</source><translation>溢出之后缩放会一直偏低，小梯度因此丢失。</translation></message>
<message><source>The initial loss scale, {}, is not a power of two</source><translation>初始损失缩放 {} 不是 2 的幂</translation></message>
<message><source>A power of two changes only the exponent; any other scale rounds every gradient twice.</source><translation>2 的幂只改变指数；其他缩放会使每个梯度舍入两次。</translation></message>
<message><source>Growth factor {} and backoff factor {} lead to scales that are not powers of two</source><translation>增长系数 {} 和回退系数 {} 会产生不是 2 的幂的缩放</translation></message>
<message><source>The minimum loss scale is the initial one, {}</source><translation>最小缩放因子就是初始值 {}</translation></message>
<message><source>The first overflow, which is normal while the scaler looks for a scale, ends the run.</source><translation>寻找缩放时的首次溢出本属正常，这里却会结束运行。</translation></message>
<message><source>The maximum loss scale is the initial one, {}</source><translation>最大缩放因子就是初始值 {}</translation></message>
<message><source>The scale can fall, but cannot rise to the higher value that later, smaller gradients need.</source><translation>缩放只能下降，无法升到后期更小梯度所需的值。</translation></message>
<message><source>Batch norm keeps its statistics in FP16</source><translation>批归一化的统计量以 FP16 保存</translation></message>
<message><source>Running means and variances move by 10 % of a small difference a step, which FP16 rounds away, and a variance above 65,504 is infinite.</source><translation>滑动均值和方差每步只移动微小差值的 10 %，会被 FP16 舍去；超过 65,504 的方差则为无穷大。</translation></message>
<message><source>Batch norm uses {} samples at a time, not the {} of a step</source><translation>批归一化每次只看到 {} 个样本，而不是一步的 {} 个</translation></message>
<message><source>Accumulation adds up gradients, but each micro-batch is normalised by its own statistics.</source><translation>累积只是把梯度相加，每个微批次仍用自己的统计量归一化。</translation></message>
<message><source>Updates of about {}, the learning rate, are lost in FP16 weights</source><translation>约为学习率 {} 的更新在 FP16 权重中会丢失</translation></message>
<message><source>Half a unit in the last place of a typical weight is {}: a smaller update does not change the weight. Master weights in fp32 would keep them.</source><translation>典型权重的半个末位单位为 {}：更小的更新不会改变权重。fp32 主权重可以保留它们。</translation></message>
<message><source>An epsilon of {} is 0 in FP16</source><translation>epsilon {} 在 FP16 中为 0</translation></message>
<message><source>FP16 holds nothing below 2⁻²⁴ = 6e-8, so a variance of 0 is divided by 0.</source><translation>FP16 无法表示小于 2⁻²⁴ = 6e-8 的数，方差为 0 时就会除以 0。</translation></message>
<message><source>Delayed scales remember {} steps, and the run has {}</source><translation>延迟缩放记住 {} 步，而本次运行只有 {} 步</translation></message>
<message><source>A scale follows the largest value of these steps, so here that of the whole run: one outlier holds it down to the end.</source><translation>缩放因子由这些步的最大值决定，这里就是整个运行的最大值：一个离群值会把它压低到最后。</translation></message>
<message><source>FP32 products on a GPU without TF32</source><translation>GPU 上的 FP32 乘积没有使用 TF32</translation></message>
<message><source>From Ampere on, TF32 computes products several times as fast, with the range of FP32 and 10 fraction bits.</source><translation>从 Ampere 起，TF32 计算乘积快数倍，范围与 FP32 相同，尾数为 10 位。</translation></message>
<message><source>Layer sizes that are not multiples of 8: {}</source><translation>层的大小不是 8 的倍数：{}</translation></message>
<message><source>Tensor Cores read 16-bit matrices in steps of 8; other sizes are padded or computed without them.</source><translation>Tensor Core 以 8 为单位读取 16 位矩阵；其他大小会被填充或不使用它计算。</translation></message>
<message><source>The batch size, {}, is not a multiple of 8</source><translation>批量大小 {} 不是 8 的倍数</translation></message>
<message><source>The loss takes probabilities, not logits</source><translation>损失的输入是概率而不是 logits</translation></message>
<message><source>In FP16 a probability rounds to 0 or 1, and autocast refuses binary_cross_entropy; the form with logits is exact.</source><translation>FP16 中概率会舍入为 0 或 1，autocast 也会拒绝 binary_cross_entropy；使用 logits 的形式才精确。</translation></message>
<message><source>where fills FP16 logits with a number that only FP32 holds</source><translation>where 用只有 FP32 能表示的数填充 FP16 logits</translation></message>
<message><source>-1e9 becomes -inf in FP16, and 0 times -inf is NaN.</source><translation>-1e9 在 FP16 中变为 -inf，而 0 乘 -inf 是 NaN。</translation></message>
<message><source>Norms are computed as single 16-bit operations</source><translation>归一化由单个 16 位运算组成</translation></message>
<message><source>E[x²] − E[x]² overflows, cancels to 0 or falls below it in 16 bits; norms need FP32 inside.</source><translation>E[x²] − E[x]² 在 16 位中会溢出、抵消为 0 或变为负数；归一化内部需要 FP32。</translation></message>
<message><source>Gradients are clipped at {} before they are unscaled</source><translation>梯度在反缩放之前以 {} 裁剪</translation></message>
<message><source>They still carry the loss scale of {}, so the limit is too tight by that factor.</source><translation>它们仍带有 {} 的损失缩放，上限因此紧了同样的倍数。</translation></message>
<message><source>The loss scale changes within an accumulated step</source><translation>损失缩放在一个累积步之内变化</translation></message>
<message><source>Gradients of different scales are added up, and divided by the last one.</source><translation>不同缩放的梯度被相加，再除以最后一个缩放。</translation></message>
<message><source>A resumed run loses its loss scale</source><translation>恢复的运行会丢失损失缩放</translation></message>
<message><source>It begins again at {}, and skips steps until the scaler has found a scale that fits.</source><translation>它重新从 {} 开始，在重新找到合适的缩放之前会不断跳步。</translation></message>
<message><source>A fault is planted at step {}: {}</source><translation>第 {} 步埋入了故障：{}</translation></message>
<message><source>It is there for practice, and breaks the training from that step on.</source><translation>它供练习查找之用，会从那一步起破坏训练。</translation></message>
<message><source>{} is forced to FP16, though its policy is FP32</source><translation>{} 被强制为 FP16，而它的策略是 FP32</translation></message>
<message><source>The static loss scale, {}, overflows in the first step</source><translation>静态损失缩放 {} 在第一步就溢出</translation></message>
<message><source>A static scaler never skips: the update makes the weights NaN. Lower the static scale to {} or use a dynamic one.</source><translation>静态缩放从不跳步：更新会使权重变为 NaN。请把静态缩放因子降到 {}，或改用动态缩放。</translation></message>
<message><source>{} % of the first updates do not change their FP16 weight</source><translation>最初的更新中有 {} % 没有改变 FP16 权重</translation></message>
<message><source>They are smaller than half a unit in the last place of the weight. Master weights in fp32 would keep them.</source><translation>它们小于权重末位单位的一半。fp32 主权重可以保留它们。</translation></message>
<message><source>There is no PyTorch script for a step with a gradient penalty.</source><translation>带梯度惩罚的步没有 PyTorch 脚本。</translation></message>
<message><source>{}: not a capsule: {}</source><translation>{}：不是胶囊文件：{}</translation></message>
<message><source>Give a file that halftone skips RUN STEP --capsule wrote.</source><translation>请给出由 halftone skips RUN STEP --capsule 写出的文件。</translation></message>
<message><source>its settings: {}</source><translation>其中的设置：{}</translation></message>
<message><source>it is of another version</source><translation>它属于另一个版本</translation></message>
<message><source>the field {} is of another type or shape</source><translation>字段 {} 的类型或形状不符</translation></message>
<message><source>it has no tensor {}</source><translation>其中没有张量 {}</translation></message>
<message><source>the sample numbers of a batch are of another type or shape</source><translation>某个批次的样本编号类型或形状不符</translation></message>
<message><source>it has a tensor of another name</source><translation>其中有名称不符的张量</translation></message>
<message><source>it does not say what it holds</source><translation>其中没有内容说明</translation></message>
<message><source>its description is damaged</source><translation>其中的说明已损坏</translation></message>
<message><source>Computing the run again: {} steps to go</source><translation>正在重新计算运行：还剩 {} 步</translation></message>
<message><source>Computing how far rounding moves the gradients</source><translation>正在计算舍入会使梯度变化多少</translation></message>
<message><source>Looking for the step that damaged the state: step {}</source><translation>正在查找损坏状态的那一步：第 {} 步</translation></message>
<message><source>The samples' shares are not known: the tensor is not computed for a single sample.</source><translation>样本的占比未知：单独计算一个样本时不会出现该张量。</translation></message>
<message><source>Each sample computed alone, weighted as in the batch: {} of {} samples.</source><translation>每个样本单独计算，权重与在批次中相同：{} / {} 个样本。</translation></message>
<message><source>The fault does not come from the batch.</source><translation>故障并非来自该批次。</translation></message>
<message><source>Non-finite values of the field by sample.</source><translation>该字段中各样本的非有限值。</translation></message>
<message><source>Each row of the tensor belongs to one sample.</source><translation>张量的每一行对应一个样本。</translation></message>
<message><source>Computing the step with a check after every operation</source><translation>正在重新计算该步，并在每个运算后检查</translation></message>
<message><source>Computing the step in FP32</source><translation>正在用 FP32 计算该步</translation></message>
<message><source>Computing the step at smaller loss scales</source><translation>正在用更小的损失缩放因子计算该步</translation></message>
<message><source>Looking for the samples that it comes from</source><translation>正在查找问题来自哪些样本</translation></message>
<message><source>The report of a skipped step is damaged.</source><translation>跳过步的报告已损坏。</translation></message>
<message><source>Unknown</source><translation>未知</translation></message>
<message><source>Damaged state</source><translation>状态已损坏</translation></message>
<message><source>Bad input</source><translation>输入有误</translation></message>
<message><source>Forward overflow</source><translation>前向溢出</translation></message>
<message><source>Mathematical NaN</source><translation>数学上的 NaN</translation></message>
<message><source>Scale too large</source><translation>缩放因子过大</translation></message>
<message><source>No cause found: computed again, the step is finite.</source><translation>未找到原因：重新计算后该步是有限的。</translation></message>
<message><source>Damaged state: it was not finite before the step.</source><translation>状态已损坏：在该步之前就不是有限值。</translation></message>
<message><source>Bad input: the batch is not finite.</source><translation>输入有误：批次中有非有限值。</translation></message>
<message><source>Forward overflow: a 16-bit tensor left the range of its type.</source><translation>前向溢出：某个 16 位张量超出了其类型的范围。</translation></message>
<message><source>Mathematical NaN: the result is not finite at any scale.</source><translation>数学上的 NaN：无论缩放因子多大，结果都不是有限值。</translation></message>
<message><source>Benign: the scale was too large.</source><translation>无害：缩放因子过大。</translation></message>
<message><source>The scale was too large, but the step was not skipped.</source><translation>缩放因子过大，而该步没有被跳过。</translation></message>
<message><source>Optimizer: finite gradients made a weight non-finite.</source><translation>优化器：梯度有限，更新后权重却成为非有限值。</translation></message>
<message><source>Weights, buffers, carried and optimizer state were finite before the step.</source><translation>该步之前，权重、缓冲区、传递状态和优化器状态都是有限值。</translation></message>
<message><source>{} had {} non-finite values before the step.</source><translation>该步之前，{} 中有 {} 个非有限值。</translation></message>
<message><source>{} had {} non-finite values before the step, which did not affect it.</source><translation>该步之前，{} 中有 {} 个非有限值，但未参与该步的计算。</translation></message>
<message><source>The batch is finite; its largest magnitude is {}.</source><translation>批次是有限值；最大绝对值为 {}。</translation></message>
<message><source>{}: {} values of the batch are not finite.</source><translation>{}：批次中有 {} 个值不是有限值。</translation></message>
<message><source>{} overflowed {}; in FP32 its largest magnitude is {}.</source><translation>{} 超出了 {} 的范围；在 FP32 中其最大绝对值为 {}。</translation></message>
<message><source>The largest finite activation is {}.</source><translation>最大的有限激活值为 {}。</translation></message>
<message><source>The step is not finite in FP32, either.</source><translation>该步在 FP32 中同样不是有限的。</translation></message>
<message><source>{} is not finite although its true value is within the range of {}.</source><translation>{} 不是有限值，尽管其真实值在 {} 的范围之内。</translation></message>
<message><source>The step is finite in FP32.</source><translation>该步在 FP32 中是有限的。</translation></message>
<message><source>There is no loss scale.</source><translation>没有损失缩放。</translation></message>
<message><source>Loss and FP32 gradients are finite; at scale {} the step passes.</source><translation>损失和 FP32 梯度都是有限值；缩放因子为 {} 时该步通过。</translation></message>
<message><source>The step fails at scale {}, too.</source><translation>缩放因子为 {} 时该步同样失败。</translation></message>
<message><source>The scaled gradients are finite.</source><translation>缩放后的梯度是有限值。</translation></message>
<message><source>The fault is not in the scaled gradients.</source><translation>故障不在缩放后的梯度中。</translation></message>
<message><source>The gradients are not finite before the update.</source><translation>更新之前梯度就不是有限值。</translation></message>
<message><source>The gradients are finite; after the update {} has {} non-finite values.</source><translation>梯度是有限值；更新之后 {} 中有 {} 个非有限值。</translation></message>
<message><source>Gradients and updated weights are finite.</source><translation>梯度和更新后的权重都是有限值。</translation></message>
<message><source>The step is finite when it is computed again; there is nothing to fix.</source><translation>重新计算时该步是有限的，无需处理。</translation></message>
<message><source>Resume from a checkpoint before step {} and fix the cause in that step.</source><translation>请从第 {} 步之前的检查点恢复，并修正该步的问题。</translation></message>
<message><source>Resume from an earlier checkpoint whose state is finite.</source><translation>请从状态仍为有限值的更早检查点恢复。</translation></message>
<message><source>Bring the inputs into a smaller range, keep what overflows in FP32, or train in bf16 or fp32; a lower loss scale does not help.</source><translation>请缩小输入的范围，让溢出的部分保持 FP32，或用 bf16 或 fp32 训练；降低损失缩放没有作用。</translation></message>
<message><source>Guard {} against its argument, for instance with a larger epsilon.</source><translation>请避免 {} 收到这样的参数，例如增大 epsilon。</translation></message>
<message><source>There is nothing to fix: the scaler lowers the scale by itself.</source><translation>无需处理：缩放器会自行降低缩放因子。</translation></message>
<message><source>Lower the static scale to {} or use a dynamic one.</source><translation>请把静态缩放因子降到 {}，或改用动态缩放。</translation></message>
<message><source>Give the optimizer a larger epsilon or a lower learning rate.</source><translation>请增大优化器的 epsilon，或降低学习率。</translation></message>
<message><source>Sample {} is not in the batch of step {}.</source><translation>样本 {} 不在第 {} 步的批次中。</translation></message>
<message><source>The batch has no row {}: it has {} rows.</source><translation>批次中没有第 {} 行：它共有 {} 行。</translation></message>
<message><source>The rows of this batch cannot be taken apart: it has a packed field.</source><translation>该批次的行无法拆开：其中有打包字段。</translation></message>
<message><source>The batch has no other row.</source><translation>该批次没有其他行。</translation></message>
<message><source>{} has more bits than {}, which has {}.</source><translation>{} 的位数超过了 {}，该格式只有 {} 位。</translation></message>
<message><source>A number of {} characters is too long: at most {}.</source><translation>数字长达 {} 个字符，过长：最多 {} 个。</translation></message>
<message><source>&quot;{}&quot; is not a number: write 0.1, 2^-24, 3*2^-5, 1/3, 0x3c00 (bits), inf or nan.</source><translation>“{}”不是数字：请写成 0.1、2^-24、3*2^-5、1/3、0x3c00（位）、inf 或 nan。</translation></message>
<message><source>A sum has 0 to {} terms, not {}.</source><translation>求和的项数为 0 到 {}，不能是 {}。</translation></message>
<message><source>TF32 cannot be the accumulator: its products are added in FP32.</source><translation>TF32 不能作累加器：其乘积用 FP32 累加。</translation></message>
<message><source>{} holds scales alone: it has neither sums nor products.</source><translation>{} 只用于缩放因子：没有加法和乘法。</translation></message>
<message><source>Numbers are rounded at random to FP8 and FP4, not to {}.</source><translation>随机舍入只用于 FP8 和 FP4，不用于 {}。</translation></message>
<message><source>Only finite numbers are rounded at random.</source><translation>只有有限数才能随机舍入。</translation></message>
<message><source>The largest magnitude is a number from 0 on, not {}.</source><translation>最大绝对值须为不小于 0 的数，不能是 {}。</translation></message>
<message><source>{} is not a way to round: use nearest or stochastic.</source><translation>{} 不是舍入方式：请用 nearest 或 stochastic。</translation></message>
<message><source>--draws needs --round stochastic.</source><translation>--draws 需要 --round stochastic。</translation></message>
<message><source>--saturate needs --round nearest.</source><translation>--saturate 需要 --round nearest。</translation></message>
<message><source>--mx-scale needs --block mxfp8 or mxfp4.</source><translation>--mx-scale 需要 --block mxfp8 或 mxfp4。</translation></message>
<message><source>--amax and --mx-scale need --block.</source><translation>--amax 和 --mx-scale 需要 --block。</translation></message>
<message><source>use fp32 weights, from which a recipe casts, or no recipe</source><translation>请用 fp32 权重（配方由它转换），或不用配方</translation></message>
<message><source>use it on a CPU, or no recipe</source><translation>请在 CPU 上使用，或不用配方</translation></message>
<message><source>use gradient_penalty 0: products of a recipe have no second derivative</source><translation>请把 gradient_penalty 设为 0：配方的乘积没有二阶导数</translation></message>
<message><source>use one worker: the state of this recipe is that of one process</source><translation>请用一个工作进程：此配方的状态只属于一个进程</translation></message>
<message><source>use precision.autocast bf16: the rotated rows of this recipe are bf16</source><translation>请用 precision.autocast bf16：此配方旋转后的行为 bf16</translation></message>
<message><source>The gradient of a quantised product has no derivative.</source><translation>量化乘积的梯度没有导数。</translation></message>
<message><source>Use a precision without a recipe.</source><translation>请选用不带配方的精度。</translation></message>
<message><source>Set device to cpu.</source><translation>请把 device 设为 cpu。</translation></message>
<message><source>Scales of the recipe: begin at 1.</source><translation>配方的缩放因子：从 1 开始。</translation></message>
<message><source>Scales of the recipe: with their histories, where the layers and the length are the same.</source><translation>配方的缩放因子：层和长度相同时连同历史一起恢复。</translation></message>
<message><source>This model has no product that a recipe covers: a linear layer beside its output layer.</source><translation>此模型没有配方能计算的乘积：除输出层以外的线性层。</translation></message>
<message><source>{} is not a value of {}: use {}.</source><translation>{} 不是 {} 的取值：请用 {}。</translation></message>
<message><source>{} is not a recipe: use {}.</source><translation>{} 不是配方：请用 {}。</translation></message>
<message><source>{} is not a format: use {}.</source><translation>{} 不是数值格式：请用 {}。</translation></message>
<message><source>The run has ended, so there is no next step.</source><translation>运行已结束，没有下一步了。</translation></message>
<message><source>The run has not started yet.</source><translation>运行尚未开始。</translation></message>
<message><source>The step cannot be copied: {}.</source><translation>无法复制该步：{}。</translation></message>
<message><source>the expression is missing</source><translation>缺少表达式</translation></message>
<message><source>there is one “{}” too many in the expression</source><translation>表达式中多了“{}”</translation></message>
<message><source>“{}” is missing in the expression</source><translation>表达式中缺少“{}”</translation></message>
<message><source>a word cannot be computed with</source><translation>单词不能参与计算</translation></message>
<message><source>a word can only be compared with a word, by == or !=</source><translation>单词只能用 == 或 != 与单词比较</translation></message>
<message><source>the expression is nested too deeply</source><translation>表达式嵌套过深</translation></message>
<message><source>the expression ends too early</source><translation>表达式不完整</translation></message>
<message><source>“{}” is in the wrong place in the expression</source><translation>表达式中“{}”的位置不对</translation></message>
<message><source>name a column of the run {}, such as {}.loss</source><translation>需要运行 {} 的某一列，例如 {}.loss</translation></message>
<message><source>nothing is called {} here</source><translation>这里没有名为 {} 的内容</translation></message>
<message><source>a name is missing after “{}.”</source><translation>“{}.”后面缺少名称</translation></message>
<message><source>no run is called {}</source><translation>没有名为 {} 的运行</translation></message>
<message><source>the record has no column {}</source><translation>记录中没有 {} 这一列</translation></message>
<message><source>{} has no result {}</source><translation>{} 没有结果 {}</translation></message>
<message><source>a run has no result {}</source><translation>运行没有结果 {}</translation></message>
<message><source>the name of a run is missing</source><translation>缺少运行的名称</translation></message>
<message><source>the name of an operation is missing</source><translation>缺少运算的名称</translation></message>
<message><source>an operation has no {}</source><translation>运算没有 {}</translation></message>
<message><source>a skipped step has no {}</source><translation>被跳过的步没有 {}</translation></message>
<message><source>{} takes one value</source><translation>{} 需要一个值</translation></message>
<message><source>{} takes a column of a run, or something computed from one</source><translation>{} 需要运行的一列，或由它算出的序列</translation></message>
<message><source>there is no function {}</source><translation>没有函数 {}</translation></message>
<message><source>mean over steps takes a whole number of steps from 1</source><translation>按步求平均需要一个不小于 1 的整数步数</translation></message>
<message><source>the expression has more than {} characters</source><translation>表达式超过 {} 个字符</translation></message>
<message><source>{} is not a number</source><translation>{} 不是数字</translation></message>
<message><source>the text has no closing quotation mark</source><translation>文本缺少右引号</translation></message>
<message><source>an expression has no “{}”</source><translation>表达式中不能出现“{}”</translation></message>
<message><source>Nothing checks the prediction {}.</source><translation>没有任何检查对应预测 {}。</translation></message>
<message><source>A picture is a file in the lesson's folder.</source><translation>图片必须是课程文件夹中的文件。</translation></message>
<message><source>The file has {} bytes, and a lesson at most {}.</source><translation>文件有 {} 字节，而课程最多 {} 字节。</translation></message>
<message><source>The file is not a text.</source><translation>该文件不是文本。</translation></message>
<message><source>This is not an answers file.</source><translation>这不是答案文件。</translation></message>
<message><source>This is not an answers file: {}.</source><translation>这不是答案文件：{}。</translation></message>
<message><source>{} is too large for an answers file.</source><translation>{} 太大，不是答案文件。</translation></message>
<message><source>The block is empty.</source><translation>该块是空的。</translation></message>
<message><source>The expression cannot be read: {}.</source><translation>无法读取表达式：{}。</translation></message>
<message><source>A condition has one value, not one per step: wrap it in mean, first, last or count.</source><translation>条件只能有一个真假值，而不是每步一个：请用 mean、first、last 或 count 包起来。</translation></message>
<message><source>A check is written “ID = expression” or “expect: condition”.</source><translation>检查应写成“ID = 表达式”或“expect: 条件”。</translation></message>
<message><source>{} is the name of a run.</source><translation>{} 是运行的名称。</translation></message>
<message><source>{} is predicted as a number or curve, so its check is “{} = expression”.</source><translation>{} 的预测是数字或曲线，因此检查应写成“{} = 表达式”。</translation></message>
<message><source>The prediction {} has no choice {}.</source><translation>预测 {} 没有选项 {}。</translation></message>
<message><source>{} is checked twice.</source><translation>{} 被检查了两次。</translation></message>
<message><source>{} is predicted as a curve, so its check is a column.</source><translation>{} 的预测是曲线，因此检查应为一列。</translation></message>
<message><source>{} is one value, not one per step: use mean, first, last, min, max or count.</source><translation>{} 是一个值，而不是每步一个值：请使用 mean、first、last、min、max 或 count。</translation></message>
<message><source>{} is predicted as a number, so its check is one.</source><translation>{} 的预测是数字，因此检查也应是数字。</translation></message>
<message><source>{} has choices, so its checks are “{} = KEY: condition”.</source><translation>{} 有选项，因此检查应写成“{} = KEY: 条件”。</translation></message>
<message><source>A knob is written “path: value, value” or “path: 0 .. 1”.</source><translation>旋钮应写成“path: 值, 值”或“path: 0 .. 1”。</translation></message>
<message><source>There is no setting {}.</source><translation>没有设置项 {}。</translation></message>
<message><source>The knob {} has no values.</source><translation>旋钮 {} 没有取值。</translation></message>
<message><source>The knob cannot be set: {}</source><translation>旋钮无法设置：{}</translation></message>
<message><source>{} is not a folder.</source><translation>{} 不是文件夹。</translation></message>
<message><source>The runs are not those of the lesson in the other language.</source><translation>运行与另一种语言的课程不一致。</translation></message>
<message><source>The predictions are not those of the lesson in the other language.</source><translation>预测与另一种语言的课程不一致。</translation></message>
<message><source>The checks are not those of the lesson in the other language.</source><translation>检查与另一种语言的课程不一致。</translation></message>
<message><source>The knobs are not those of the lesson in the other language.</source><translation>旋钮与另一种语言的课程不一致。</translation></message>
<message><source>The pace is not that of the lesson in the other language.</source><translation>速度限制与另一种语言的课程不一致。</translation></message>
<message><source>There are more than {} lessons.</source><translation>课程超过 {} 个。</translation></message>
<message><source>{} cannot be read.</source><translation>无法读取 {}。</translation></message>
<message><source>{} in {} is too large for a lesson.</source><translation>{}（位于 {}）作为课程太大。</translation></message>
<message><source>{} is not a lesson: its name must end in .lesson.md.</source><translation>{} 不是课程：文件名必须以 .lesson.md 结尾。</translation></message>
<message><source>{} does not exist.</source><translation>{} 不存在。</translation></message>
<message><source>{} cannot be read: {}.</source><translation>无法读取 {}：{}。</translation></message>
<message><source>{} contains no lesson.</source><translation>{} 中没有课程。</translation></message>
<message><source>An instrument is weight, histogram, xray, skip, bits or sum.</source><translation>仪器只能是 weight、histogram、xray、skip、bits 或 sum。</translation></message>
<message><source>An instrument names its run: “: RUN” or “: RUN beside RUN”.</source><translation>仪器要写明运行：“: RUN”或“: RUN beside RUN”。</translation></message>
<message><source>A weight is written “weight fc1.weight[3,5]: RUN”.</source><translation>权重应写成“weight fc1.weight[3,5]: RUN”。</translation></message>
<message><source>A histogram is one of gradients, activations, weights and updates, of a layer or of all.</source><translation>直方图是 gradients、activations、weights 或 updates 之一，可指定一层或全部。</translation></message>
<message><source>A sum is written “sum ID: 0.001 x 5000 in fp16 accumulate fp32”.</source><translation>求和应写成“sum ID: 0.001 x 5000 in fp16 accumulate fp32”。</translation></message>
<message><source>Bits are written “bits ID: 0.1 in fp16”.</source><translation>比特应写成“bits ID: 0.1 in fp16”。</translation></message>
<message><source>A sum has 0 to 1,000,000 terms.</source><translation>求和可有 0 到 1,000,000 项。</translation></message>
<message><source>{}: {}</source><translation>{}：{}</translation></message>
<message><source>There is no format {}: {}.</source><translation>没有格式 {}：可用 {}。</translation></message>
<message><source>There is no number format {}.</source><translation>没有数字格式 {}。</translation></message>
<message><source>{} has no result {}.</source><translation>{} 没有结果 {}。</translation></message>
<message><source>Write a prediction as “```predict NAME”: use letters, digits and _.</source><translation>预测应写成“```predict NAME”：只用字母、数字和 _。</translation></message>
<message><source>Two predictions are called {}.</source><translation>有两个预测都叫 {}。</translation></message>
<message><source>The prediction {} asks nothing.</source><translation>预测 {} 没有提问。</translation></message>
<message><source>The prediction {} needs choices, or one of number, range and curve.</source><translation>预测 {} 需要选项，或 number、range、curve 之一。</translation></message>
<message><source>The prediction {} needs at least two choices.</source><translation>预测 {} 至少需要两个选项。</translation></message>
<message><source>“{}” has no meaning after the choices.</source><translation>选项之后的“{}”没有意义。</translation></message>
<message><source>A choice is written “- KEY: text”.</source><translation>选项应写成“- KEY: 文本”。</translation></message>
<message><source>Two choices are called {}.</source><translation>有两个选项都叫 {}。</translation></message>
<message><source>A prediction has at most {} choices.</source><translation>一个预测最多有 {} 个选项。</translation></message>
<message><source>“within” takes a number above 0.</source><translation>“within”需要一个大于 0 的数。</translation></message>
<message><source>A curve is written “curve: COLUMN over 0 .. 100”.</source><translation>曲线应写成“curve: COLUMN over 0 .. 100”。</translation></message>
<message><source>The lesson has no runs.</source><translation>该课程没有运行。</translation></message>
<message><source>{} did not begin.</source><translation>{} 没有开始。</translation></message>
<message><source>“{}” cannot be the name of a run: use letters, digits and _.</source><translation>“{}”不能作运行的名称：只用字母、数字和 _。</translation></message>
<message><source>The label has no closing quotation mark.</source><translation>标签缺少右引号。</translation></message>
<message><source>A run is written NAME "label": path=value ...</source><translation>运行应写成 NAME "label": path=value ...</translation></message>
<message><source>A run continues another one with “resume: RUN at STEP”.</source><translation>用“resume: RUN at STEP”可从另一个运行继续。</translation></message>
<message><source>“{}” is not a setting: use path=value.</source><translation>“{}”不是设置项：请写成 path=value。</translation></message>
<message><source>The run {} cannot start: line {} of the network: {}</source><translation>运行 {} 无法开始：网络第 {} 行：{}</translation></message>
<message><source>The run {} cannot start: {}</source><translation>运行 {} 无法开始：{}</translation></message>
<message><source>The pace is a number such as “250 steps/s”.</source><translation>速度限制是一个数，例如“250 steps/s”。</translation></message>
<message><source>{} cannot continue {}: name a run of the lesson that does not itself resume.</source><translation>{} 不能从 {} 继续，因为后者不是独立开始的运行。</translation></message>
<message><source>A lesson has one block of a network.</source><translation>一个课程只有一个 network 块。</translation></message>
<message><source>The network is not that of the lesson in the other language.</source><translation>网络与另一种语言的课程不一致。</translation></message>
<message><source>write the network into a block “network”</source><translation>请把网络写进 network 块</translation></message>
<message><source>Text without options</source><translation>不含选项的文本</translation></message>
<message><source>PyTorch source</source><translation>PyTorch 源代码</translation></message>
<message><source>Picture</source><translation>图</translation></message>
<message><source>Picture with the layers of blocks and their types</source><translation>图（含各块内的层及其类型）</translation></message>
<message><source>Number of slopes: 1, or one for each channel.</source><translation>斜率的数量：1，或每个通道一个。</translation></message>
<message><source>A dimension or a list of them.</source><translation>一个维度，或多个维度的列表。</translation></message>
<message><source>A number, or [left, right, top, bottom].</source><translation>一个数，或 [左, 右, 上, 下]。</translation></message>
<message><source>A table whose numbers it shares: wte.weight.</source><translation>与它共用数值的表：wte.weight。</translation></message>
<message><source>Rounds the size of the output up instead of down.</source><translation>输出尺寸向上取整，而不是向下取整。</translation></message>
<message><source>Padding on each side.</source><translation>每一侧的填充。</translation></message>
<message><source>Added to the mean square, against division by zero.</source><translation>加到均方上的小数，防止除以零。</translation></message>
<message><source>Added to one side of the output's size.</source><translation>加到输出尺寸的一侧。</translation></message>
<message><source>Added to the variance, against division by zero.</source><translation>加到方差上的小数，防止除以零。</translation></message>
<message><source>Adds a bias to each channel.</source><translation>为每个通道加上偏置。</translation></message>
<message><source>Adds a bias to each element.</source><translation>为每个元素加上偏置。</translation></message>
<message><source>Adds a bias to each output.</source><translation>为每个输出加上偏置。</translation></message>
<message><source>Adds a bias.</source><translation>加上偏置。</translation></message>
<message><source>The new order of all dimensions.</source><translation>所有维度的新顺序。</translation></message>
<message><source>Number of output channels.</source><translation>输出通道数。</translation></message>
<message><source>Dimension, from 0 (N); negative ones count from the end.</source><translation>维度，从 0（N）起；负数从末尾数起。</translation></message>
<message><source>Dimensions to reverse or to shift along.</source><translation>要反转或移动的维度。</translation></message>
<message><source>Step from one item to the next.</source><translation>相邻两项的步长。</translation></message>
<message><source>Spacing of the kernel's elements.</source><translation>卷积核（窗口）元素的间距，即膨胀率。</translation></message>
<message><source>Dropout probability between the layers.</source><translation>层间 Dropout 的概率。</translation></message>
<message><source>Dropout probability of the attention weights.</source><translation>注意力权重的 Dropout 概率。</translation></message>
<message><source>Causal mask: a position attends only to itself and earlier ones.</source><translation>因果掩码：每个位置只关注自身和更早的位置。</translation></message>
<message><source>none: exact; tanh: the approximation with tanh.</source><translation>none：精确；tanh：用 tanh 近似。</translation></message>
<message><source>Slope for negative inputs.</source><translation>负输入的斜率。</translation></message>
<message><source>Number of groups of channels.</source><translation>通道的组数。</translation></message>
<message><source>Learns a weight and a bias for each channel.</source><translation>为每个通道学习权重和偏置。</translation></message>
<message><source>Factor.</source><translation>系数。</translation></message>
<message><source>Its value.</source><translation>数值。</translation></message>
<message><source>Sizes of the tensor.</source><translation>张量的大小。</translation></message>
<message><source>Number of attention heads.</source><translation>注意力头的数量。</translation></message>
<message><source>Number of last dimensions that are normalised.</source><translation>归一化的末尾维度数。</translation></message>
<message><source>How the rows of a sample are combined.</source><translation>每个样本的各行如何合并。</translation></message>
<message><source>Interpolation mode.</source><translation>插值方式。</translation></message>
<message><source>Initial values of the bias.</source><translation>偏置的初始值。</translation></message>
<message><source>Initial values of the weight.</source><translation>权重的初始值。</translation></message>
<message><source>Name of the activation.</source><translation>激活函数的名称。</translation></message>
<message><source>Sizes of the new shape, without N.</source><translation>新形状的大小，不含 N。</translation></message>
<message><source>Keeps the state for the next batch.</source><translation>为下一个批次保留状态。</translation></message>
<message><source>Number of stacked layers.</source><translation>堆叠的层数。</translation></message>
<message><source>Size of the output along each dimension.</source><translation>输出在每个维度上的大小。</translation></message>
<message><source>Number of groups of a grouped convolution; as many as channels: depthwise.</source><translation>分组卷积的组数；等于通道数时为逐深度卷积。</translation></message>
<message><source>Number of parts.</source><translation>份数。</translation></message>
<message><source>Longest sequence: the number of positions in the table.</source><translation>最长的序列长度，即表中的位置数。</translation></message>
<message><source>Number of positions to shift by, for each dimension.</source><translation>每个维度移动的位数。</translation></message>
<message><source>Bidirectional: a second network reads the sequence backwards.</source><translation>双向：第二个网络按逆序读取序列。</translation></message>
<message><source>Weight of the batch in the running statistics.</source><translation>批次在移动统计量中的权重。</translation></message>
<message><source>Dropout probability, in training.</source><translation>训练时的 Dropout 概率。</translation></message>
<message><source>Side length of a block, in pixels.</source><translation>块的边长（像素）。</translation></message>
<message><source>Number of output features.</source><translation>输出特征数。</translation></message>
<message><source>Size of the hidden state.</source><translation>隐藏状态的大小。</translation></message>
<message><source>Kernel size.</source><translation>卷积核或池化窗口的大小。</translation></message>
<message><source>Keeps the reduced dimensions with size 1.</source><translation>被归约的维度保留，大小为 1。</translation></message>
<message><source>Stride of the kernel.</source><translation>卷积核的步幅。</translation></message>
<message><source>Stride of the window; by default the kernel size.</source><translation>窗口的步幅，默认等于窗口大小。</translation></message>
<message><source>Scale factor.</source><translation>缩放倍数。</translation></message>
<message><source>The first item.</source><translation>第一项。</translation></message>
<message><source>The item after the last.</source><translation>最后一项之后的一项。</translation></message>
<message><source>The item; -1 is the last.</source><translation>第几项；-1 是最后一项。</translation></message>
<message><source>Upper bound.</source><translation>上界。</translation></message>
<message><source>Includes the padding in the mean.</source><translation>计算平均值时包含填充。</translation></message>
<message><source>Index of the part, from 0.</source><translation>第几份，从 0 起。</translation></message>
<message><source>Exponent of the norm.</source><translation>范数的指数。</translation></message>
<message><source>Lower bound.</source><translation>下界。</translation></message>
<message><source>Sizes of the new dimensions; one may be -1.</source><translation>新维度的大小；其中一个可以是 -1。</translation></message>
<message><source>Values in the padding.</source><translation>填充的值。</translation></message>
<message><source>Size of each embedding vector.</source><translation>每个嵌入向量的维度。</translation></message>
<message><source>Padding on each side; same: the output has the size of the input.</source><translation>每一侧的填充；same：输出与输入尺寸相同。</translation></message>
<message><source>A lesson has one block of runs.</source><translation>一个课程只有一个 runs 块。</translation></message>
<message><source>“all:” must come before the runs.</source><translation>“all:”应写在各运行之前。</translation></message>
<message><source>Two runs are called {}.</source><translation>有两个运行都叫 {}。</translation></message>
<message><source>A lesson has 1 to {} runs.</source><translation>一个课程有 1 到 {} 个运行。</translation></message>
<message><source>name a file in the lesson's folder</source><translation>请使用课程文件夹中的文件</translation></message>
<message><source>No run is called {}.</source><translation>没有名为 {} 的运行。</translation></message>
<message><source>The record has no column {}.</source><translation>记录中没有 {} 这一列。</translation></message>
<message><source>The lesson has no step: a line such as “## Read”.</source><translation>该课程没有步骤，即“## Read”这样的行。</translation></message>
<message><source>A lesson begins with “---” and its title.</source><translation>课程以“---”和标题开头。</translation></message>
<message><source>The lesson has no title.</source><translation>该课程没有标题。</translation></message>
<message><source>The front matter has no closing “---”.</source><translation>文件头缺少结尾的“---”。</translation></message>
<message><source>The front matter has lines such as “title: ...”.</source><translation>文件头由“title: ...”这样的行组成。</translation></message>
<message><source>Minutes are a number from 1 to 600.</source><translation>分钟数是 1 到 600 的数。</translation></message>
<message><source>The front matter has no “{}”: title, chapter or minutes.</source><translation>文件头没有“{}”：可用 title、chapter 或 minutes。</translation></message>
<message><source>Text must follow a heading such as “## Read”.</source><translation>正文必须跟在“## Read”这样的标题之后。</translation></message>
<message><source>The block has no closing “```”.</source><translation>该块缺少结尾的“```”。</translation></message>
<message><source>A block must follow a heading such as “## Read”.</source><translation>块必须跟在“## Read”这样的标题之后。</translation></message>
<message><source>There is no block “{}”: network, predict, runs, plot, instrument, check or try.</source><translation>没有“{}”块：可用 network、predict、runs、plot、instrument、check 或 try。</translation></message>
<message><source>“{}” is not a range: use two numbers such as 0 .. 3000.</source><translation>“{}”不是范围：请写两个数，例如 0 .. 3000。</translation></message>
<message><source>{} has no such element.</source><translation>{} 没有这个元素。</translation></message>
<message><source>The model has no trained parameter {}.</source><translation>模型没有可训练的参数 {}。</translation></message>
<message><source>There is no PyTorch script for the operation {}.</source><translation>运算 {} 没有对应的 PyTorch 脚本。</translation></message>
<message><source>There is no PyTorch script for the model {}.</source><translation>模型 {} 没有对应的 PyTorch 脚本。</translation></message>
<message><source>There is no PyTorch script for a run that is broken on purpose (teach).</source><translation>故意设错的运行（teach）没有对应的 PyTorch 脚本。</translation></message>
<message><source>The samples were left out while the run trains: they would take about {} s. Examine the step again to see them.</source><translation>训练进行中，未逐个计算样本：约需 {} 秒。要查看样本，请再次检查该步。</translation></message>
<message><source>Step {} could not be examined: {}</source><translation>无法检查第 {} 步：{}</translation></message>
<message><source>{} overflowed {}, to which the model casts explicitly.</source><translation>{} 超出了 {} 的范围：模型自行转换为该类型。</translation></message>
<message><source>Different tasks: not compared.</source><translation>任务不同：不作比较。</translation></message>
<message><source>{}: {}. {}: {}.</source><translation>{}：{}。{}：{}。</translation></message>
<message><source>Different data: {} and {}.</source><translation>数据不同：{} 和 {}。</translation></message>
<message><source>Different data: the settings of the data set differ.</source><translation>数据不同：数据集的设置不一致。</translation></message>
<message><source>Different numbers of steps, {} and {}: the first {} are compared.</source><translation>步数不同（{} 和 {}）：只比较前 {} 步。</translation></message>
<message><source>speeds not compared</source><translation>不比较速度</translation></message>
<message><source>Speed ratio of the fastest tenth of the steps: {}.</source><translation>最快的十分之一步的速度比：{}。</translation></message>
<message><source>It is not known whether {} pays off: its fastest steps are {} times as fast as FP32's, the rest of the difference may be other load on this machine.</source><translation>无法判断 {} 是否有收益：其最快的步的速度为 FP32 的 {} 倍，其余差异可能来自本机的其他负载。</translation></message>
<message><source>Lower the static scale or use a dynamic one.</source><translation>降低静态缩放因子，或改用动态缩放。</translation></message>
<message><source>&quot;{}&quot; cannot be the name of a preset.</source><translation>“{}”不能作为预设名称。</translation></message>
<message><source>Use a name without slashes that does not begin with a dot.</source><translation>请使用不含斜杠、不以点开头的名称。</translation></message>
<message><source>The preset {} cannot be deleted.</source><translation>无法删除预设 {}。</translation></message>
<message><source>Check that you may write to {}.</source><translation>请检查您是否有权写入 {}。</translation></message>
<message><source>use a JSON file with settings that can be read, of at most 1 MiB, or the name of settings that `halftone presets` lists</source><translation>请使用可读取的、不超过 1 MiB 的 JSON 设置文件，或 `halftone presets` 列出的设置名称</translation></message>
<message><source>is one setting: use --set {}={}</source><translation>这是单个设置项：请使用 --set {}={}</translation></message>
<message><source>The static loss scale, {}, overflows with any gradient above {}</source><translation>静态缩放因子 {} 会使任何大于 {} 的梯度溢出</translation></message>
<message><source>Answers are handed in under a name.</source><translation>答案须署名提交。</translation></message>
<message><source>Type your name.</source><translation>请输入您的姓名。</translation></message>
<message><source>The gradients overflowed at step {}, at a static loss scale of {}, and were applied: a static scaler skips nothing. Lower the static scale or use a dynamic one.</source><translation>第 {} 步的梯度在静态缩放因子 {} 下溢出，但仍被应用：静态缩放不会跳过任何步。降低静态缩放因子，或改用动态缩放。</translation></message>
<message><source>{}: a gradient is no longer finite; a dynamic scaler skips such a step.</source><translation>{}：有梯度不再是有限数；动态缩放会跳过这样的步。</translation></message>
<message><source>Comparison {}</source><translation>对比 {}</translation></message>
<message><source>Sweep {}</source><translation>扫描 {}</translation></message>
<message><source>Stop it before you resume what it belongs to.</source><translation>请先停止它，再恢复它所属的对比或扫描。</translation></message>
<message><source>There is nothing to resume: all {} runs have ended.</source><translation>没有可恢复的运行：{} 个运行都已结束。</translation></message>
<message><source>Resume a single run to give it more steps.</source><translation>如需更多步数，请恢复单个运行。</translation></message>
<message><source>it has other files than those of its runs</source><translation>其中有不属于这些运行的文件</translation></message>
<message><source>Their steps were not measured in turns, so their speeds are not compared.</source><translation>两次运行的步没有交替测量，因此不比较速度。</translation></message>
<message><source>Fix the cause in step 1, which damaged it, and start the run again.</source><translation>先解决损坏状态的第 1 步的原因，再重新开始运行。</translation></message>
<message><source>Comparison or sweep</source><translation>对比或扫描</translation></message>
<message><source>The two runs of this twin stopped at different steps, {} and {}. One of them takes over what the other one does, so they cannot go on coupled.</source><translation>这对孪生运行停在不同的步：{} 和 {}。其中一个要沿用另一个的状态或跳步，因此无法再耦合继续。</translation></message>
<message><source>Start the twin anew.</source><translation>请重新开始孪生运行。</translation></message>
<message><source>the table has the columns {}</source><translation>表格的列为 {}</translation></message>
<message><source>The line ends, where a value is needed.</source><translation>行在此结束，但这里需要一个值。</translation></message>
<message><source>{}: a value is needed here.</source><translation>{}：这里需要一个值。</translation></message>
<message><source>The line ends, where a layer is needed.</source><translation>行在此结束，但这里需要一个层。</translation></message>
<message><source>{}: a layer is needed here.</source><translation>{}：这里需要一个层。</translation></message>
<message><source>The line ends, where the name of a layer or value is needed.</source><translation>行在此结束，但这里需要层名或值名。</translation></message>
<message><source>{}: the name of a layer or value is needed here.</source><translation>{}：这里需要层名或值名。</translation></message>
<message><source>The line ends, where a name is needed.</source><translation>行在此结束，但这里需要一个名字。</translation></message>
<message><source>{}: a name is needed here: a word that is no keyword.</source><translation>{}：这里需要一个名字，即不是关键字的单词。</translation></message>
<message><source>The line ends, where a number is needed.</source><translation>行在此结束，但这里需要一个数。</translation></message>
<message><source>{}: a number is needed here.</source><translation>{}：这里需要一个数。</translation></message>
<message><source>The line ends, where a default is needed.</source><translation>行在此结束，但这里需要默认值。</translation></message>
<message><source>{}: a default is needed here: a number, a word, true, false, or a list of them.</source><translation>{}：这里需要默认值：数、单词、true、false，或由它们组成的列表。</translation></message>
<message><source>The line ends, where "=" is needed.</source><translation>行在此结束，但这里需要“=”。</translation></message>
<message><source>{}: "=" is needed here.</source><translation>{}：这里需要“=”。</translation></message>
<message><source>The line ends, where ":" is needed.</source><translation>行在此结束，但这里需要“:”。</translation></message>
<message><source>{}: ":" is needed here.</source><translation>{}：这里需要“:”。</translation></message>
<message><source>The line ends, where "(" is needed.</source><translation>行在此结束，但这里需要“(”。</translation></message>
<message><source>{}: "(" is needed here.</source><translation>{}：这里需要“(”。</translation></message>
<message><source>The line ends, where ")" is needed.</source><translation>行在此结束，但这里需要“)”。</translation></message>
<message><source>{}: "," or ")" is needed here.</source><translation>{}：这里需要“,”或“)”。</translation></message>
<message><source>The line ends, where "]" is needed.</source><translation>行在此结束，但这里需要“]”。</translation></message>
<message><source>{}: "," or "]" is needed here.</source><translation>{}：这里需要“,”或“]”。</translation></message>
<message><source>The line ends, where "}" is needed.</source><translation>行在此结束，但这里需要“}”。</translation></message>
<message><source>{}: "}" is needed here.</source><translation>{}：这里需要“}”。</translation></message>
<message><source>The string does not end on its line. Add " at its end.</source><translation>字符串没有在本行结束，请在末尾加上 "。</translation></message>
<message><source>The line ends, where ".." is needed.</source><translation>行在此结束，但这里需要“..”。</translation></message>
<message><source>{}: ".." is needed here.</source><translation>{}：这里需要“..”。</translation></message>
<message><source>The line ends, where "." is needed.</source><translation>行在此结束，但这里需要“.”。</translation></message>
<message><source>{}: "." is needed here: init names a kind and its parameter, Conv2d.weight.</source><translation>{}：这里需要“.”：init 后写层的种类和参数，如 Conv2d.weight。</translation></message>
<message><source>The line ends, where "else" is needed.</source><translation>行在此结束，但这里需要“else”。</translation></message>
<message><source>{}: "else" is needed here.</source><translation>{}：这里需要“else”。</translation></message>
<message><source>A name in quotes is empty, or holds a "}" alone.</source><translation>引号中的名字为空，或含有单独的“}”。</translation></message>
<message><source>{}: the line should end here.</source><translation>{}：行应在此结束。</translation></message>
<message><source>The line ends, where a statement is needed.</source><translation>行在此结束，但这里需要一条语句。</translation></message>
<message><source>{}: a statement is needed here.</source><translation>{}：这里需要一条语句。</translation></message>
<message><source>Nothing may follow the network. Write this line above it.</source><translation>network 之后不能再有内容，请把这一行移到它上面。</translation></message>
<message><source>There is no network. End the text with "network(image):" and its layers.</source><translation>没有 network。请在文本末尾写“network(image):”和它的各层。</translation></message>
<message><source>{}: option, init, block or network is needed here.</source><translation>{}：这里需要 option、init、block 或 network。</translation></message>
<message><source>This is indented deeper than line {}, which takes no lines below it.</source><translation>这一行比第 {} 行缩进得更深，但那一行下面不能有内容。</translation></message>
<message><source>Lines that are indented deeper are missing below this one.</source><translation>这一行下面缺少缩进更深的行。</translation></message>
<message><source>output is the last line of a body. Move it to the end.</source><translation>output 是一段中的最后一行，请移到末尾。</translation></message>
<message><source>A layer is missing here, or lines below it that are indented deeper.</source><translation>这里缺少一个层，或下面缺少缩进更深的行。</translation></message>
<message><source>More than {} operators inside one another.</source><translation>运算符嵌套超过 {} 层。</translation></message>
<message><source>{}: arguments without a name come first.</source><translation>{}：不带名字的参数写在前面。</translation></message>
<message><source>{} is out of range.</source><translation>{} 超出范围。</translation></message>
<message><source>This is notation {}; this program reads notation {}. A newer version of Halftone reads it.</source><translation>这是第 {} 版记法，本程序读第 {} 版。请用更新的 Halftone 打开。</translation></message>
<message><source>A tab. Use spaces.</source><translation>这里是制表符，请用空格。</translation></message>
<message><source>The first line is indented. Write it without spaces before it.</source><translation>第一行有缩进，请去掉行首的空格。</translation></message>
<message><source>More than {} levels.</source><translation>缩进超过 {} 层。</translation></message>
<message><source>{} spaces: no open level has that many. Write {}.</source><translation>{} 个空格：没有哪一层是这样缩进的，请写 {} 个。</translation></message>
<message><source>More than {} brackets inside one another.</source><translation>括号嵌套超过 {} 层。</translation></message>
<message><source>{} is not closed.</source><translation>{} 没有闭合。</translation></message>
<message><source>{} is not closed: line {} is not indented deeper.</source><translation>{} 没有闭合：第 {} 行没有缩进得更深。</translation></message>
<message><source>The text has more than {} KiB.</source><translation>文本超过 {} KiB。</translation></message>
<message><source>The text has more than {} lines.</source><translation>文本超过 {} 行。</translation></message>
<message><source>A NUL character. Remove it.</source><translation>这里是 NUL 字符，请删除。</translation></message>
<message><source>This is not UTF-8. Save the text as UTF-8.</source><translation>这里不是 UTF-8，请将文本保存为 UTF-8。</translation></message>
<message><source>{}: the cluster has a job for this run</source><translation>{}：集群上有这个运行的作业</translation></message>
<message><source>Cancel it first.</source><translation>请先取消它。</translation></message>
<message><source>The path of Halftone on this machine.</source><translation>Halftone 在本机上的路径。</translation></message>
<message><source>What Halftone has to do, for example train SETTINGS --out FOLDER.</source><translation>Halftone 要做的事，例如 train SETTINGS --out FOLDER。</translation></message>
<message><source>The name of the job.</source><translation>作业的名称。</translation></message>
<message><source>The folder of the job, with settings, script and output.</source><translation>作业的文件夹，其中有设置、脚本和输出。</translation></message>
<message><source>The folder of the run, which Halftone makes.</source><translation>运行的文件夹，由 Halftone 创建。</translation></message>
<message><source>The script has to begin with its shell, for example {}.</source><translation>脚本的第一行必须指明 shell，例如 {}。</translation></message>
<message><source>The script has {}, which stands for nothing.</source><translation>脚本中的 {} 不代表任何内容。</translation></message>
<message><source>The script lacks {}, so the job would train nothing.</source><translation>脚本缺少 {}，作业不会训练任何东西。</translation></message>
<message><source>Change {}, or delete it for the default.</source><translation>请修改 {}，或删除它以使用默认脚本。</translation></message>
<message><source>{}: the program is no longer there</source><translation>{}：程序已不在此处</translation></message>
<message><source>Start Halftone again.</source><translation>请重新启动 Halftone。</translation></message>
<message><source>The script is longer than 1 MiB.</source><translation>脚本超过 1 MiB。</translation></message>
<message><source>{}: the folder for jobs needs a whole path that begins with /</source><translation>{}：作业文件夹需要以 / 开头的完整路径</translation></message>
<message><source>{}: the folder for jobs has a control character in its name</source><translation>{}：作业文件夹的名称中有控制字符</translation></message>
<message><source>{}: no JSON object with a folder for jobs</source><translation>{}：不是含有作业文件夹的 JSON 对象</translation></message>
<message><source>Correct the file, or delete it for the default.</source><translation>请改正该文件，或删除它以使用默认值。</translation></message>
<message><source>Correct {}, or delete it for the default.</source><translation>请改正 {}，或删除它以使用默认值。</translation></message>
<message><source>This machine has no sbatch, so it cannot give jobs to Slurm.</source><translation>本机没有 sbatch，无法向 Slurm 提交作业。</translation></message>
<message><source>Start Halftone on the cluster's login node, or let the runs train here.</source><translation>请在集群的登录节点上启动 Halftone，或让这些运行在本机训练。</translation></message>
<message><source>{}: the cluster has no job for this run</source><translation>{}：集群上没有这个运行的作业</translation></message>
<message><source>Slurm did not cancel job {}: {}</source><translation>Slurm 没有取消作业 {}：{}</translation></message>
<message><source>The job waits in Slurm: {}</source><translation>作业在 Slurm 中等待：{}</translation></message>
<message><source>sbatch printed no job number.</source><translation>sbatch 没有输出作业编号。</translation></message>
<message><source>Slurm did not take the job: {}</source><translation>Slurm 没有接受作业：{}</translation></message>
<message><source>Slurm does not answer: {}</source><translation>Slurm 没有应答：{}</translation></message>
<message><source>{} cannot be run.</source><translation>无法运行 {}。</translation></message>
<message><source>{} has not answered in a minute.</source><translation>{} 在一分钟内没有应答。</translation></message>
<message><source>{} was ended before it answered.</source><translation>{} 在应答之前就被结束了。</translation></message>
<message><source>{} has not answered in a minute. Slurm may have taken the job all the same.</source><translation>{} 在一分钟内没有应答，但 Slurm 可能已经接受了作业。</translation></message>
<message><source>The program was closed before {} had answered. Slurm may have taken the job all the same.</source><translation>程序在 {} 应答之前就关闭了，但 Slurm 可能已经接受了作业。</translation></message>
<message><source>The job ended before its run began ({})</source><translation>作业在运行开始之前就结束了（{}）</translation></message>
<message><source>The job ended before its run did ({}). The run can go on from its last checkpoint.</source><translation>作业在运行结束之前就结束了（{}）。该运行可以从最后一个检查点继续。</translation></message>
<message><source>The job was cancelled.</source><translation>作业已取消。</translation></message>
<message><source>--input {}: sizes are numbers joined by x, as in image=3x224x224.</source><translation>--input {}：大小写成用 x 连接的数，如 image=3x224x224。</translation></message>
<message><source>--input {}: write {}.</source><translation>--input {}：请写 {}。</translation></message>
<message><source>--input {}: the inputs are image, features, tokens and indices.</source><translation>--input {}：输入有 image、features、tokens 和 indices。</translation></message>
<message><source>--option {}: write NAME=VALUE.</source><translation>--option {}：请写 名字=值。</translation></message>
<message><source>{} takes true or false, not {}.</source><translation>{} 应为 true 或 false，而不是 {}。</translation></message>
<message><source>{} takes a whole number, not {}.</source><translation>{} 应为整数，而不是 {}。</translation></message>
<message><source>{} takes a number, not {}.</source><translation>{} 应为数，而不是 {}。</translation></message>
<message><source>{} = {}: use {} to {}.</source><translation>{} = {}：请用 {} 到 {}。</translation></message>
<message><source>{} = {}: use {} or more.</source><translation>{} = {}：请用不小于 {} 的数。</translation></message>
<message><source>{} takes one of these words: {}; not {}.</source><translation>{} 应为这些单词之一：{}；而不是 {}。</translation></message>
<message><source>{} takes a whole number, or a list of {}; not {}.</source><translation>{} 应为一个整数，或 {} 个整数的列表；而不是 {}。</translation></message>
<message><source>{}: {} is a size that is not known before training, so it cannot be one of a parameter.</source><translation>{}：{} 是训练前未知的尺寸，因此不能是参数的尺寸。</translation></message>
<message><source>{} names a parameter of another layer: wte.weight.</source><translation>{} 写另一层的参数名，如 wte.weight。</translation></message>
<message><source>{}: nothing comes without a name; sizes of the input follow from it. Write {}.</source><translation>{}：没有不带名字的参数；输入的大小由输入得出。请写 {}。</translation></message>
<message><source>{}: {} alone comes without a name; sizes of the input follow from it. Write {}.</source><translation>{}：只有 {} 可以不带名字；输入的大小由输入得出。请写 {}。</translation></message>
<message><source>{}: {} come without names; sizes of the input follow from it. Write {}.</source><translation>{}：{} 可以不带名字；输入的大小由输入得出。请写 {}。</translation></message>
<message><source>{}: {} alone comes without a name; sizes of the input follow from it. Write {}; or {}, if {} is no size of the input.</source><translation>{}：只有 {} 可以不带名字；输入的大小由输入得出。请写 {}；如果 {} 不是输入的大小，请写 {}。</translation></message>
<message><source>{}: {} come without names; sizes of the input follow from it. Write {}; or {}, if {} is no size of the input.</source><translation>{}：{} 可以不带名字；输入的大小由输入得出。请写 {}；如果 {} 不是输入的大小，请写 {}。</translation></message>
<message><source>{}: nothing comes without a name. Write {}.</source><translation>{}：没有不带名字的参数。请写 {}。</translation></message>
<message><source>{}: {} alone comes without a name. Write {}.</source><translation>{}：只有 {} 可以不带名字。请写 {}。</translation></message>
<message><source>{}: {} come without names. Write {}.</source><translation>{}：{} 可以不带名字。请写 {}。</translation></message>
<message><source>{}: {} takes no arguments.</source><translation>{}：{} 没有参数。</translation></message>
<message><source>{}: too many arguments without a name. The arguments of {} are {}.</source><translation>{}：不带名字的参数太多。{} 的参数有：{}。</translation></message>
<message><source>{} has no argument {}.</source><translation>{} 没有参数 {}。</translation></message>
<message><source>{} has no argument {}. Did you mean {}?</source><translation>{} 没有参数 {}。是否想写 {}？</translation></message>
<message><source>{} is given twice.</source><translation>{} 给了两次。</translation></message>
<message><source>{}: {} is missing.</source><translation>{}：缺少 {}。</translation></message>
<message><source>The option {} is set to {}.</source><translation>选项 {} 被设为 {}，超出了允许的值。</translation></message>
<message><source>{} has no parameter {}. It has: {}.</source><translation>{} 没有参数 {}。它有：{}。</translation></message>
<message><source>{}: there is a block of this name above.</source><translation>{}：上面已有同名的 block。</translation></message>
<message><source>The data have no {}. They have: {}.</source><translation>数据没有 {}，只有：{}。</translation></message>
<message><source>{} in a name: a whole number or a word fits here.</source><translation>名字中的 {}：这里应为整数或单词。</translation></message>
<message><source>{}: there is no such layer or value here.</source><translation>{}：这里没有这个层或值。</translation></message>
<message><source>{}: there is no such layer or value here. Did you mean {}?</source><translation>{}：这里没有这个层或值。是否想写 {}？</translation></message>
<message><source>A name has at most {} characters, and {} with those of the modules around it.</source><translation>一个名字最多 {} 个字符，连同外层模块名最多 {} 个。</translation></message>
<message><source>{}: this line makes {} twice. Use the number of the repeat in its name: {}{}.</source><translation>{}：这一行生成了两个 {}。请在名字中用重复的序号：{}{}。</translation></message>
<message><source>{}: line {} has this name, and it would be {} twice. To use the same weights again write "x = {} from ...".</source><translation>{}：第 {} 行已用此名，{} 会出现两次。要再次使用同样的权重，请写“x = {} from ...”。</translation></message>
<message><source>output names one value; only that of the network may name several.</source><translation>output 只写一个值；只有整个网络的 output 可以写多个。</translation></message>
<message><source>The text runs more than {} lines; this is where it stops.</source><translation>文本展开后执行超过 {} 行，到此为止。</translation></message>
<message><source>This line takes one value.</source><translation>这一行只取一个值。</translation></message>
<message><source>repeat {}: at most {} times.</source><translation>repeat {}：最多 {} 次。</translation></message>
<message><source>repeat {}: a number of times is 0 or more.</source><translation>repeat {}：次数不能小于 0。</translation></message>
<message><source>repeat: {} is not a list.</source><translation>repeat：{} 不是列表。</translation></message>
<message><source>{} does not part into {} names.</source><translation>{} 不能拆成 {} 个名字。</translation></message>
<message><source>{}: a block sees those above it. Move {} above this one.</source><translation>{}：block 只能用它上面的 block。请把 {} 移到上面。</translation></message>
<message><source>{} takes {} values, not {}.</source><translation>{} 取 {} 个值，而不是 {} 个。</translation></message>
<message><source>{} takes no value.</source><translation>{} 不取值。</translation></message>
<message><source>{} takes {} values or more: {} from above, x.</source><translation>{} 取 {} 个或更多的值：{} from above, x。</translation></message>
<message><source>{} takes {} to {} values, not {}.</source><translation>{} 取 {} 到 {} 个值，而不是 {} 个。</translation></message>
<message><source>{} has parameters, so it needs a module's name: write "{}: {}".</source><translation>{} 有权重，因此需要模块名：请写“{}: {}”。</translation></message>
<message><source>{} is no module: write "{} = {}".</source><translation>{} 不是模块：请写“{} = {}”。</translation></message>
<message><source>{} needs a name: "name: {}(...)".</source><translation>{} 需要名字：“名字: {}(...)”。</translation></message>
<message><source>{} is a value: write "from {}".</source><translation>{} 是一个值：请写“from {}”。</translation></message>
<message><source>{} runs again with the arguments that it has: write it without brackets.</source><translation>{} 以原有的参数再次运行：请去掉括号。</translation></message>
<message><source>{} runs again, and has its name already: write "{} = {}".</source><translation>{} 再次运行，已有名字：请写“{} = {}”。</translation></message>
<message><source>Line {}: {}</source><translation>第 {} 行：{}</translation></message>
<message><source>Line {}: {} cannot be written for PyTorch yet.</source><translation>第 {} 行：{} 还不能写成 PyTorch 代码。</translation></message>
<message><source>Line {}: a module of PyTorch cannot be called training.</source><translation>第 {} 行：PyTorch 的模块不能叫 training。</translation></message>
<message><source>{} cannot be written for PyTorch: a name above has it as the beginning, up to a dot.</source><translation>{} 不能写成 PyTorch 代码：上面有一个名称以它和一个点开头。</translation></message>
<message><source>{}: there is no such layer.</source><translation>{}：没有这种层。</translation></message>
<message><source>{}: there is no such layer. Did you mean {}?</source><translation>{}：没有这种层。是否想写 {}？</translation></message>
<message><source>1 / (1 + exp(-x)).</source><translation>1 / (1 + exp(-x))。</translation></message>
<message><source>A dimension as several; -1 stands for the rest.</source><translation>把一个维度分成几个；-1 代表其余部分。</translation></message>
<message><source>A matrix product with a weight, and a bias.</source><translation>与权重的矩阵乘积，加偏置。</translation></message>
<message><source>A number.</source><translation>一个数。</translation></message>
<message><source>A row of a table for each place of a sequence.</source><translation>为序列的每个位置取表的一行。</translation></message>
<message><source>A row of a table for each whole number.</source><translation>为每个整数取表的一行。</translation></message>
<message><source>A table for each column.</source><translation>每列一个表。</translation></message>
<message><source>The rows of a table for the whole numbers of each sample, as one.</source><translation>把每个样本的整数在表中的各行合成一行。</translation></message>
<message><source>A tensor that is learnt.</source><translation>可学习的张量。</translation></message>
<message><source>A tensor that is not learnt: read from the file of initial weights.</source><translation>不学习的张量：从初始权重文件读取。</translation></message>
<message><source>Absolute value.</source><translation>绝对值。</translation></message>
<message><source>Another shape of each sample; -1 stands for the rest.</source><translation>每个样本的另一种形状；-1 代表其余部分。</translation></message>
<message><source>Attention of queries, keys and values, without weights.</source><translation>查询、键和值的注意力，不带权重。</translation></message>
<message><source>Attention with its projections.</source><translation>带投影的注意力。</translation></message>
<message><source>Between two numbers.</source><translation>限制在两个数之间。</translation></message>
<message><source>Blocks of pixels become channels.</source><translation>像素块变为通道。</translation></message>
<message><source>Channels become blocks of pixels.</source><translation>通道变为像素块。</translation></message>
<message><source>Concatenates along a dimension.</source><translation>沿一个维度拼接。</translation></message>
<message><source>Convolution.</source><translation>卷积。</translation></message>
<message><source>Cosine of the angle between two values along a dimension.</source><translation>两个值沿一个维度的夹角余弦。</translation></message>
<message><source>Dimensions as one.</source><translation>把几个维度合成一个。</translation></message>
<message><source>Dimensions in another order.</source><translation>按另一种顺序排列维度。</translation></message>
<message><source>Divided by the length along a dimension.</source><translation>除以沿一个维度的长度。</translation></message>
<message><source>Divides by the root of the mean square of the last dimensions.</source><translation>除以最后几个维度的均方根。</translation></message>
<message><source>ELU with a continuous slope.</source><translation>斜率连续的 ELU。</translation></message>
<message><source>ELU with the factors that keep mean 0 and variance 1.</source><translation>系数使均值保持 0、方差保持 1 的 ELU。</translation></message>
<message><source>Hyperbolic tangent.</source><translation>双曲正切。</translation></message>
<message><source>Items of a dimension.</source><translation>一个维度中的若干项。</translation></message>
<message><source>Larger by a factor.</source><translation>按倍数放大。</translation></message>
<message><source>Leaky ReLU with a slope that is learnt.</source><translation>斜率可学习的 Leaky ReLU。</translation></message>
<message><source>Logarithm of the sigmoid.</source><translation>sigmoid 的对数。</translation></message>
<message><source>Logarithm of the softmax.</source><translation>softmax 的对数。</translation></message>
<message><source>Matrix product of the last two dimensions.</source><translation>最后两个维度的矩阵乘积。</translation></message>
<message><source>Moved along dimensions, the end to the front.</source><translation>沿维度移动，末尾移到开头。</translation></message>
<message><source>Natural logarithm.</source><translation>自然对数。</translation></message>
<message><source>Negative numbers become 0.</source><translation>负数变为 0。</translation></message>
<message><source>Negative numbers become smaller.</source><translation>负数变小。</translation></message>
<message><source>Negative x become exp(x) - 1.</source><translation>负的 x 变为 exp(x) - 1。</translation></message>
<message><source>Normalises each channel of each sample.</source><translation>归一化每个样本的每个通道。</translation></message>
<message><source>Normalises each channel over the batch.</source><translation>在批量上归一化每个通道。</translation></message>
<message><source>Normalises groups of channels of each sample.</source><translation>归一化每个样本的通道组。</translation></message>
<message><source>Normalises the last dimensions.</source><translation>归一化最后几个维度。</translation></message>
<message><source>One item of a dimension, which goes.</source><translation>取一个维度的一项，该维度消失。</translation></message>
<message><source>Part i of n equal ones.</source><translation>n 个相等部分中的第 i 个。</translation></message>
<message><source>Piecewise-linear SiLU.</source><translation>分段线性的 SiLU。</translation></message>
<message><source>Positive numbers that add up to 1 along a dimension.</source><translation>沿一个维度之和为 1 的正数。</translation></message>
<message><source>ReLU that ends at 6.</source><translation>上限为 6 的 ReLU。</translation></message>
<message><source>Recurrent network with a memory cell.</source><translation>带记忆单元的循环网络。</translation></message>
<message><source>Recurrent network with gates.</source><translation>带门的循环网络。</translation></message>
<message><source>Recurrent network with tanh.</source><translation>使用 tanh 的循环网络。</translation></message>
<message><source>Reverses dimensions.</source><translation>反转维度。</translation></message>
<message><source>Sets numbers to 0 while training.</source><translation>训练时把一些数置为 0。</translation></message>
<message><source>Sets whole channels to 0 while training.</source><translation>训练时把整个通道置为 0。</translation></message>
<message><source>Sets whole samples to 0 while training.</source><translation>训练时把整个样本置为 0。</translation></message>
<message><source>Sigmoid of straight pieces.</source><translation>由直线段组成的 sigmoid。</translation></message>
<message><source>Square root.</source><translation>平方根。</translation></message>
<message><source>Square.</source><translation>平方。</translation></message>
<message><source>Stacks along a new dimension.</source><translation>沿新维度堆叠。</translation></message>
<message><source>The activation that a word names.</source><translation>由单词指定的激活函数。</translation></message>
<message><source>The first divided by the second.</source><translation>第一个除以第二个。</translation></message>
<message><source>The first minus the second.</source><translation>第一个减第二个。</translation></message>
<message><source>The larger number, element by element.</source><translation>逐元素取较大的数。</translation></message>
<message><source>The largest number of each window.</source><translation>每个窗口的最大值。</translation></message>
<message><source>The largest number over dimensions.</source><translation>在若干维度上的最大值。</translation></message>
<message><source>The largest numbers of equal parts.</source><translation>各等分部分的最大值。</translation></message>
<message><source>The mean of each window.</source><translation>每个窗口的平均值。</translation></message>
<message><source>The mean over dimensions.</source><translation>在若干维度上的平均值。</translation></message>
<message><source>The means of equal parts.</source><translation>各等分部分的平均值。</translation></message>
<message><source>The power mean of each window, times its size.</source><translation>每个窗口的幂平均乘以其大小。</translation></message>
<message><source>The product, element by element.</source><translation>逐元素的乘积。</translation></message>
<message><source>The smaller number, element by element.</source><translation>逐元素取较小的数。</translation></message>
<message><source>The sum over dimensions.</source><translation>在若干维度上的和。</translation></message>
<message><source>The sum.</source><translation>和。</translation></message>
<message><source>The value as it is.</source><translation>原样的值。</translation></message>
<message><source>Times a number.</source><translation>乘以一个数。</translation></message>
<message><source>Transposed convolution, which enlarges.</source><translation>转置卷积，使尺寸变大。</translation></message>
<message><source>Two dimensions exchanged.</source><translation>交换两个维度。</translation></message>
<message><source>Values around the last dimensions.</source><translation>在最后几个维度周围填充值。</translation></message>
<message><source>With a new dimension of size 1.</source><translation>增加一个大小为 1 的新维度。</translation></message>
<message><source>Without a dimension of size 1.</source><translation>去掉一个大小为 1 的维度。</translation></message>
<message><source>e to the power of x.</source><translation>e 的 x 次幂。</translation></message>
<message><source>log(1 + exp(x)).</source><translation>log(1 + exp(x))。</translation></message>
<message><source>x / (1 + |x|).</source><translation>x / (1 + |x|)。</translation></message>
<message><source>x times its sigmoid.</source><translation>x 乘以其 sigmoid。</translation></message>
<message><source>x times the normal distribution's share below x.</source><translation>x 乘以正态分布在 x 以下的份额。</translation></message>
<message><source>x times the tanh of its softplus.</source><translation>x 乘以其 softplus 的 tanh。</translation></message>
<message><source>The network ends with {}; scores need {}. Take one place, Select(1, -1), or the mean of all, Mean(1), and add fc: Linear(outputs); or write &quot;gives token scores&quot;.</source><translation>网络以 {} 结束；分数需要 {}。请取一个位置 Select(1, -1) 或全部的均值 Mean(1)，并加上 fc: Linear(outputs)；或写“gives token scores”。</translation></message>
<message><source>A name of more than {} characters.</source><translation>名字超过 {} 个字符。</translation></message>
<message><source>A string of more than {} characters.</source><translation>字符串超过 {} 个字符。</translation></message>
<message><source>The data have no {}.</source><translation>数据没有 {}。</translation></message>
<message><source>The network grows beyond {} layers here ({}).</source><translation>网络在此处超过 {} 层（{}）。</translation></message>
<message><source>repeat: {} comes twice.</source><translation>repeat：{} 出现两次。</translation></message>
<message><source>{} has no parameters.</source><translation>{} 没有参数。</translation></message>
<message><source>{}.{}: line {} sets its initial values already.</source><translation>{}.{}：第 {} 行已设置其初始值。</translation></message>
<message><source>{}.{}: no layer of this network has it.</source><translation>{}.{}：此网络中没有层有它。</translation></message>
<message><source>{}: the input is {}, smaller than the window. Remove this layer, or use images of at least {} x {}.</source><translation>{}：输入为 {}，小于窗口。请移除此层，或使用至少 {} x {} 的图像。</translation></message>
<message><source>{}: there is no such input. Did you mean {}?</source><translation>{}：没有这种输入。是否想写 {}？</translation></message>
<message><source>{}: there is no such input. Use {}.</source><translation>{}：没有这种输入。请用 {}。</translation></message>
<message><source>DropPath: no sum takes its result, so whole samples become 0. It belongs on a branch: Add from above, x.</source><translation>DropPath：没有求和使用它的结果，整个样本会变为 0。它应放在分支上：Add from above, x。</translation></message>
<message><source>{}: this block hides the layer of its name.</source><translation>{}：此块遮蔽了同名的层。</translation></message>
<message><source>{}: this input comes twice.</source><translation>{}：此输入出现两次。</translation></message>
<message><source>{}: this layer has nothing that {} could set.</source><translation>{}：此层没有可由 {} 设置的参数。</translation></message>
<message><source>{}: with its weights the network has 2^62 numbers or more.</source><translation>{}：加上其权重，网络有 2^62 个或更多数值。</translation></message>
<message><source>{}: {} comes twice.</source><translation>{}：{} 出现两次。</translation></message>
<message><source>{}: {} is {}, {} is {}. They differ in the dimensions {}: each size has to be equal, or 1.</source><translation>{}：{} 为 {}，{} 为 {}。它们在维度 {} 上不同：各尺寸必须相等或为 1。</translation></message>
<message><source>--input {}: {} is given twice.</source><translation>--input {}：{} 给出了两次。</translation></message>
<message><source>--option {}: {} is given twice.</source><translation>--option {}：{} 给出了两次。</translation></message>
<message><source>--option {}: the number is out of range.</source><translation>--option {}：数值超出范围。</translation></message>
<message><source>--option {}: the text has no options.</source><translation>--option {}：文本没有选项。</translation></message>
<message><source>--option {}: the text has no such option. Did you mean {}?</source><translation>--option {}：文本没有此选项。是否想写 {}？</translation></message>
<message><source>--option {}: the text has no such option; it has {}.</source><translation>--option {}：文本没有此选项；它有 {}。</translation></message>
<message><source>{} takes {} arguments.</source><translation>{} 有 {} 个参数。</translation></message>
<message><source>The network grows beyond {} layers here.</source><translation>网络在这里超过 {} 层。</translation></message>
<message><source>{}: there is no such parameter above.</source><translation>{}：上面没有这个参数。</translation></message>
<message><source>{} is {}; here it would be {}.</source><translation>{} 为 {}，在这里会是 {}。</translation></message>
<message><source>The network ends with {}; stages are four images with strides 4, 8, 16 and 32: output layer1, layer2, layer3, layer4.</source><translation>网络以 {} 结束；stages 是步幅为 4、8、16、32 的四幅图像：output layer1, layer2, layer3, layer4。</translation></message>
<message><source>output names one value; only a network that gives stages has several.</source><translation>output 只写一个值；只有给出 stages 的网络有多个。</translation></message>
<message><source>The network ends with {}; scores need {}. Add Flatten and fc: Linear(outputs).</source><translation>网络以 {} 结束；scores 需要 {}。请加上 Flatten 和 fc: Linear(outputs)。</translation></message>
<message><source>The network ends with {}; scores need {}. End with fc: Linear(outputs).</source><translation>网络以 {} 结束；scores 需要 {}。请以 fc: Linear(outputs) 结束。</translation></message>
<message><source>The network ends with {}; a click score needs N x 1. End with Linear(1).</source><translation>网络以 {} 结束；click score 需要 N x 1。请以 Linear(1) 结束。</translation></message>
<message><source>The network ends with {}; {} need {}. End with Linear(outputs).</source><translation>网络以 {} 结束；{} 需要 {}。请以 Linear(outputs) 结束。</translation></message>
<message><source>The network ends with {}; an image has the size of the network's input.</source><translation>网络以 {} 结束；image 的大小应与网络的输入相同。</translation></message>
<message><source>gives {}: use scores, image, token scores, masked token scores, click score or stages.</source><translation>gives {}：请用 scores、image、token scores、masked token scores、click score 或 stages。</translation></message>
<message><source>{} is not a rule for initial weights: use zeros, ones, constant(a), uniform(a), normal(s), trunc_normal(s), a xavier or kaiming rule, or orthogonal.</source><translation>{} 不是初始权重的规则：请用 zeros、ones、constant(a)、uniform(a)、normal(s)、trunc_normal(s)、xavier 或 kaiming 规则，或 orthogonal。</translation></message>
<message><source>{} takes one number: {}(0.02).</source><translation>{} 取一个数：{}(0.02)。</translation></message>
<message><source>{} takes a mode and an activation: {}(fan_out, relu).</source><translation>{} 取模式和激活函数：{}(fan_out, relu)。</translation></message>
<message><source>{} takes no arguments.</source><translation>{} 没有参数。</translation></message>
<message><source>{} takes fan_in or fan_out, then relu or linear.</source><translation>{} 先取 fan_in 或 fan_out，再取 relu 或 linear。</translation></message>
<message><source>{}: there is no dimension {} in {}: use {} to {}.</source><translation>{}：没有第 {} 维，形状是 {}：请用 {} 到 {}。</translation></message>
<message><source>{}: a size of its weights would be {}, which is not known before training: the input is {}.</source><translation>{}：其权重的一个尺寸会是 {}，训练前未知：输入为 {}。</translation></message>
<message><source>{} takes {}; the input is {}.</source><translation>{} 需要 {}，输入为 {}。</translation></message>
<message><source>{} takes numbers with fractions; the input holds whole ones. Put Embedding or EmbeddingTables in between.</source><translation>{} 需要小数，输入却是整数。请在中间加 Embedding 或 EmbeddingTables。</translation></message>
<message><source>{}: more than {} dimensions: {}.</source><translation>{}：超过 {} 维：{}。</translation></message>
<message><source>{}: {} has 2^62 elements or more.</source><translation>{}：{} 的元素达到 2^62 个或更多。</translation></message>
<message><source>{}: its weights would be {}. Each size has to be 1 or more.</source><translation>{}：权重会是 {}，每个大小都不能小于 1。</translation></message>
<message><source>{}: {} cannot be joined with another size: it is not known before training.</source><translation>{}：{} 不能与其他尺寸合并：它在训练前未知。</translation></message>
<message><source>{}: a size of 2^62 or more.</source><translation>{}：大小达到 2^62 或更多。</translation></message>
<message><source>{}: {} is out of range.</source><translation>{}：{} 超出范围。</translation></message>
<message><source>{}: {} is not known before training, so the window has to keep it: stride=1 and padding=same.</source><translation>{}：{} 在训练前未知，因此窗口必须保持它不变：stride=1 且 padding=same。</translation></message>
<message><source>{}: the input is {}, smaller than the window. Remove this layer, or use larger inputs.</source><translation>{}：输入为 {}，比窗口小。请去掉这一层，或用更大的输入。</translation></message>
<message><source>Clamp: min = {} is above max = {}.</source><translation>Clamp：min = {} 大于 max = {}。</translation></message>
<message><source>{}: {} is {}, {} is {}. They differ in channels, height and width. Give {} {} channels and stride={}.</source><translation>{}：{} 为 {}，{} 为 {}。通道、高和宽都不同。请让 {} 有 {} 个通道并设 stride={}。</translation></message>
<message><source>{}: {} is {}, {} is {}. They differ in channels. Give {} {} channels.</source><translation>{}：{} 为 {}，{} 为 {}。通道不同。请让 {} 有 {} 个通道。</translation></message>
<message><source>{}: {} is {}, {} is {}. They differ in height and width. Give {} stride={}.</source><translation>{}：{} 为 {}，{} 为 {}。高和宽不同。请给 {} 设 stride={}。</translation></message>
<message><source>{}: {} is {}, {} is {}. Each size has to be equal, or 1.</source><translation>{}：{} 为 {}，{} 为 {}。每个大小必须相等或为 1。</translation></message>
<message><source>Concat: dimension 0 is the batch. Use dim=1 or more.</source><translation>Concat：第 0 维是批次。请用 dim=1 或更大。</translation></message>
<message><source>MatMul: {} is {}, {} is {}. The last size of the first has to be the last but one of the second.</source><translation>MatMul：{} 为 {}，{} 为 {}。前者最后的大小必须等于后者倒数第二个大小。</translation></message>
<message><source>CosineSimilarity: dimension 0 is the batch. Use dim=1 or more.</source><translation>CosineSimilarity：第 0 维是批次。请用 dim=1 或更大。</translation></message>
<message><source>{}: a state is carried from one batch to the next only forward, so not with bidirectional=true.</source><translation>{}：状态只能正向带到下一批，因此不能与 bidirectional=true 同用。</translation></message>
<message><source>{} takes one value, or queries, keys and values.</source><translation>{} 取一个值，或取查询、键和值。</translation></message>
<message><source>{}: queries {}, keys {} and values {} do not fit one another.</source><translation>{}：查询 {}、键 {} 和值 {} 不匹配。</translation></message>
<message><source>num_heads = {} does not divide the width {}. Use {}.</source><translation>num_heads = {} 不能整除宽度 {}。请用 {}。</translation></message>
<message><source>{}: dimension 0 is the batch. Use 1 or more.</source><translation>{}：第 0 维是批次。请用 1 或更大。</translation></message>
<message><source>{}: start_dim is behind end_dim in {}.</source><translation>{}：在 {} 中 start_dim 在 end_dim 之后。</translation></message>
<message><source>{}: a size is 1 or more, and -1 once for the rest.</source><translation>{}：大小不小于 1，-1 可用一次，表示其余部分。</translation></message>
<message><source>{}: {} elements do not fit into {}.</source><translation>{}：{} 个元素放不进 {}。</translation></message>
<message><source>Reshape takes N x ...; the input is {}.</source><translation>Reshape 需要 N x ...，输入为 {}。</translation></message>
<message><source>{}: dimension {} comes twice.</source><translation>{}：第 {} 维出现了两次。</translation></message>
<message><source>Permute: {} has {} dimensions, and all of them have to be named.</source><translation>Permute：{} 有 {} 维，必须全部写出。</translation></message>
<message><source>Select: there is no item {} in dimension {} of {}.</source><translation>Select：没有第 {} 项，在第 {} 维，形状为 {}。</translation></message>
<message><source>Slice: nothing is left of dimension {} of {}.</source><translation>Slice：第 {} 维什么也不剩，形状为 {}。</translation></message>
<message><source>Split: {} does not part into {} equal ones. Use {}.</source><translation>Split：{} 不能分成 {} 个相等的部分。请用 {}。</translation></message>
<message><source>Split: the parts are 0 to {}, not {}.</source><translation>Split：各部分为 0 到 {}，没有 {}。</translation></message>
<message><source>{} names a value: {}=x.</source><translation>{} 要写一个值的名字：{}=x。</translation></message>
<message><source>{}: use mask or causal=true, not both.</source><translation>{}：mask 与 causal=true 只能用其一。</translation></message>
<message><source>{}: the mask {} is {}, the scores of the heads are {}. Each size has to be equal, or 1.</source><translation>{}：掩码 {} 的形状是 {}，各头的分数是 {}。每个尺寸必须相等，或为 1。</translation></message>
<message><source>{} turns pairs of features: {} has {} of them. Use an even number.</source><translation>{} 成对旋转特征：{} 有 {} 个特征。请用偶数。</translation></message>
<message><source>The second value where the first is not 0, else the third.</source><translation>第一个值不为 0 处取第二个值，否则取第三个值。</translation></message>
<message><source>A value that is added to the scores, N x heads x T x T; sizes of 1 fit.</source><translation>加到分数上的值，N x 头数 x T x T；尺寸为 1 的维也可以。</translation></message>
<message><source>Turns pairs of features by angles that grow with the place in the sequence.</source><translation>按随序列位置增大的角度旋转成对的特征。</translation></message>
<message><source>Pair i turns by base^(-2i / features) a place.</source><translation>每前进一个位置，第 i 对旋转 base^(-2i / 特征数)。</translation></message>
<message><source>Roll: one shift for each dimension.</source><translation>Roll：每一维一个移动量。</translation></message>
<message><source>{}: padding = {} is more than half of the window {}.</source><translation>{}：padding = {} 超过窗口 {} 的一半。</translation></message>
<message><source>Upsample: mode={} does not take {}.</source><translation>Upsample：mode={} 不能用于 {}。</translation></message>
<message><source>Upsample: nothing is left of {}.</source><translation>Upsample：{} 什么也不剩。</translation></message>
<message><source>{}({}): {} does not part into blocks of this size.</source><translation>{}({})：{} 不能分成这样大小的块。</translation></message>
<message><source>Pad: {} takes one number, or pairs for its last dimensions: [left, right, top, bottom].</source><translation>Pad：{} 需要一个数，或最后几维的成对数：[左, 右, 上, 下]。</translation></message>
<message><source>Pad: {} is out of range.</source><translation>Pad：{} 超出范围。</translation></message>
<message><source>padding_mode=reflect: the padding {} has to be below the size {}.</source><translation>padding_mode=reflect：填充 {} 必须小于大小 {}。</translation></message>
<message><source>{}: no dimension is named.</source><translation>{}：没有写出维度。</translation></message>
<message><source>{} takes N x features; the input is {}.</source><translation>{} 需要 N x 特征数，输入为 {}。</translation></message>
<message><source>{} is {}; this layer needs {}.</source><translation>{} 为 {}，这一层需要 {}。</translation></message>
<message><source>{}: groups = {} does not divide {} input and {} output channels. Use {}.</source><translation>{}：groups = {} 不能整除 {} 个输入通道和 {} 个输出通道。请用 {}。</translation></message>
<message><source>padding=same keeps sizes, so it needs stride=1.</source><translation>padding=same 保持大小不变，因此需要 stride=1。</translation></message>
<message><source>output_padding = {} has to be below stride or dilation.</source><translation>output_padding = {} 必须小于 stride 或 dilation。</translation></message>
<message><source>{}: {} is not known before training, so the window has to keep it.</source><translation>{}：{} 在训练前未知，因此窗口必须保持它不变。</translation></message>
<message><source>{}: the padding leaves nothing of {}.</source><translation>{}：填充之后 {} 什么也不剩。</translation></message>
<message><source>{}: dims = {} dimensions, and the batch is none of them: the input is {}.</source><translation>{}：dims = {} 维，批次不算在内：输入为 {}。</translation></message>
<message><source>num_groups = {} does not divide {} channels. Use {}.</source><translation>num_groups = {} 不能整除 {} 个通道。请用 {}。</translation></message>
<message><source>num_parameters = {}: use 1, or one for each channel of {}.</source><translation>num_parameters = {}：请用 1，或 {} 的每个通道一个。</translation></message>
<message><source>{} takes whole numbers, tokens or indices; the input holds numbers with fractions.</source><translation>{} 需要整数（tokens 或 indices），输入却是小数。</translation></message>
<message><source>{}: it is not known what the numbers stay below. Put it directly behind the network's input.</source><translation>{}：不知道这些整数的上限。请把它直接放在网络的输入之后。</translation></message>
<message><source>Positions({}): the input has {} places.</source><translation>Positions({})：输入有 {} 个位置。</translation></message>
<message><source>The network does not fit the data: line {}, column {}: {}</source><translation>网络与数据不匹配：第 {} 行第 {} 列：{}</translation></message>
<message><source>{} is a Buffer: its numbers are read from a file.</source><translation>{} 是 Buffer：其数值从文件读取。</translation></message>
<message><source>Set model.init_from to a file that has it, or write Parameter.</source><translation>请把 model.init_from 设为含有它的文件，或改写为 Parameter。</translation></message>
<message><source>It has {} faults.</source><translation>共有 {} 处错误。</translation></message>
<message><source>{} is no template: use {}.</source><translation>{} 不是模板：请用 {}。</translation></message>
<message><source>{}: a list holds whole numbers or words.</source><translation>{}：列表只能含整数或单词。</translation></message>
<message><source>{}: there is an option of this name above.</source><translation>{}：上面已有同名的选项。</translation></message>
<message><source>{}: a range is for numbers; words are listed behind "of".</source><translation>{}：范围只用于数；单词写在“of”之后。</translation></message>
<message><source>{}: the default is none of the values that the option takes.</source><translation>{}：默认值不在选项允许的值之中。</translation></message>
<message><source>{}: the range {} to {} is empty.</source><translation>{}：范围 {} 到 {} 为空。</translation></message>
<message><source>More than {} options.</source><translation>选项超过 {} 个。</translation></message>
<message><source>The batch size N is symbolic; an expression needs a number.</source><translation>批量大小 N 是符号；表达式需要数值。</translation></message>
<message><source>The window length T is symbolic; an expression needs a number. The last window of a text is shorter.</source><translation>窗口长度 T 是符号；表达式需要数值。文本的最后一个窗口更短。</translation></message>
<message><source>{} is not a number.</source><translation>{} 不是数。</translation></message>
<message><source>A list of more than {} items.</source><translation>列表超过 {} 项。</translation></message>
<message><source>{} {} {} is out of range.</source><translation>{} {} {} 超出范围。</translation></message>
<message><source>{} {} {} is not a finite number.</source><translation>{} {} {} 不是有限的数。</translation></message>
<message><source>More than {} operators are computed here.</source><translation>到这里计算的运算超过 {} 次。</translation></message>
<message><source>{} is neither true nor false.</source><translation>{} 既不是 true 也不是 false。</translation></message>
<message><source>{} is not a whole number.</source><translation>{} 不是整数。</translation></message>
<message><source>{} is the variable here, not the word. Write "{}" for the word.</source><translation>{} 在这里是变量，而不是单词。要写单词请用 "{}"。</translation></message>
<message><source>{}: the value is {} and has no {}.</source><translation>{}：这个值为 {}，没有 {}。</translation></message>
<message><source>{} is a value of the network, not a number. Its sizes are {}.channels, .height, .width and .length.</source><translation>{} 是网络中的值，不是数。它的大小是 {}.channels、.height、.width 和 .length。</translation></message>
<message><source>{}: there is no such value, option or parameter here.</source><translation>{}：这里没有这个值、选项或参数。</translation></message>
<message><source>{}: there is no such value, option or parameter here. Did you mean {}?</source><translation>{}：这里没有这个值、选项或参数。是否想写 {}？</translation></message>
<message><source>size takes one list: size([1, 2]) is 2.</source><translation>size 取一个列表：size([1, 2]) 是 2。</translation></message>
<message><source>{}: there is no such function here. The rules for initial weights are {}.</source><translation>{}：这里没有这个函数。初始权重的规则有：{}。</translation></message>
<message><source>{}: there is no such function here. The only one is size, the number of items of a list.</source><translation>{}：这里没有这个函数。唯一的函数是 size，即列表的项数。</translation></message>
<message><source>{}: above is a value behind from alone. Give the line above a name, as in x = ReLU, and write x{}.</source><translation>{}：above 只在 from 之后是一个值。请给上一行一个名字，例如 x = ReLU，然后写 x{}。</translation></message>
<message><source>{} is not a list.</source><translation>{} 不是列表。</translation></message>
<message><source>A list of more than {} items, with those of the lists in it.</source><translation>列表连同其中各列表的项超过 {} 个。</translation></message>
<message><source>More than {} lists inside one another.</source><translation>列表嵌套超过 {} 层。</translation></message>
<message><source>{}: the input has {} columns; at most {} fit here.</source><translation>{}：输入有 {} 列；这里最多 {} 列。</translation></message>
<message><source>The option {} is set to {}, which is out of range.</source><translation>选项 {} 设为 {}，超出范围。</translation></message>
<message><source>The layers have more than {} tensors of weights here.</source><translation>到此处各层的权重张量超过 {} 个。</translation></message>
<message><source>There is no item {} in a list of {}: the first is 0, the last {} or -1.</source><translation>没有第 {} 项，列表有 {} 项：第一项是 0，最后一项是 {} 或 -1。</translation></message>
<message><source>use a list of lines in quotes</source><translation>请使用由带引号的行组成的列表</translation></message>
<message><source>use a network that takes {}, as the data set {} has it</source><translation>请使用接受 {} 的网络：数据集 {} 提供的正是它</translation></message>
<message><source>choose the file of the network, NAME.network</source><translation>请选择网络文件 NAME.network</translation></message>
<message><source>use a newer version of Halftone: this one reads the notation up to {}</source><translation>请使用更新版本的 Halftone：本版本最高读取第 {} 版记法</translation></message>
<message><source>use the hash of model.network, {}, or leave it out if you have changed the text</source><translation>请使用 model.network 的散列值 {}；若您改动了文本，请删去此项</translation></message>
<message><source>No task takes a network that gives stages.</source><translation>没有任务接受输出 stages 的网络。</translation></message>
<message><source>Networks of ONNX files cannot be read yet.</source><translation>尚不能读取 ONNX 文件中的网络。</translation></message>
<message><source>Use a network as text, NAME.network.</source><translation>请使用文本形式的网络 NAME.network。</translation></message>
<message><source>Choose a network as text, NAME.network.</source><translation>请选择文本形式的网络 NAME.network。</translation></message>
<message><source>There is no file that can be read.</source><translation>没有可以读取的文件。</translation></message>
<message><source>The file has more than {} bytes.</source><translation>该文件超过 {} 字节。</translation></message>
<message><source>The file has no line that begins with network.</source><translation>文件中没有以 network 开头的行。</translation></message>
<message><source>The file is not a text in UTF-8.</source><translation>该文件不是 UTF-8 文本。</translation></message>
<message><source>The file is empty.</source><translation>该文件是空的。</translation></message>
<message><source>The text in model.network is used: {} has another one. --set model.path={} takes that of the file.</source><translation>使用的是 model.network 中的文本：{} 中的文本与之不同。--set model.path={} 会采用文件中的文本。</translation></message>
<message><source>set model.path or model.network, not both</source><translation>请只设置 model.path 和 model.network 中的一个</translation></message>
<message><source>Ignored, since the network of {} has no such options: {}.</source><translation>已忽略，因为 {} 中的网络没有这些选项：{}。</translation></message>
<message><source>Own network</source><translation>自己的网络</translation></message>
<message><source>The network of a text that you write: one layer a line, with PyTorch&apos;s names.</source><translation>由您编写的文本描述的网络：每行一层，名称与 PyTorch 一致。</translation></message>
<message><source>Network file</source><translation>网络文件</translation></message>
<message><source>File with the network as text (NAME.network). The settings keep its text, so a run does not change when the file does.</source><translation>以文本描述网络的文件（NAME.network）。设置中保存其文本，因此文件变化时运行不变。</translation></message>
<message><source>Network</source><translation>网络</translation></message>
<message><source>The text of the network, a list of lines. It is read from the network file, if one is given.</source><translation>网络的文本，逐行列出。若给出网络文件，则从中读取。</translation></message>
<message><source>Hash of the network</source><translation>网络的散列值</translation></message>
<message><source>SHA-256 of the network&apos;s text. The program writes it, and refuses a text with another one.</source><translation>网络文本的 SHA-256。由程序写入；文本与之不符时拒绝。</translation></message>
<message><source>Notation</source><translation>记法</translation></message>
<message><source>Version of the notation of the network&apos;s text. The program writes it.</source><translation>网络文本所用记法的版本。由程序写入。</translation></message>
<message><source>model.sha256: {}: the text of the network has another hash</source><translation>model.sha256：{}：网络文本的散列值与此不同</translation></message>
<message><source>The picture cannot be drawn as a PDF.</source><translation>无法将图片绘制为 PDF。</translation></message>
<message><source>{} has an error, which the page Network shows.</source><translation>{} 有一个错误，见“网络”页面。</translation></message>
<message><source>{} has {} errors, which the page Network lists.</source><translation>{} 有 {} 个错误，见“网络”页面。</translation></message>
<message><source>The text of the network in the settings of run {} has another hash than model.sha256: it was changed.</source><translation>运行 {} 的设置中，网络文本的散列值与 model.sha256 不符：文本已被改动。</translation></message>
<message><source>Put it back, or begin a new run with it.</source><translation>请恢复原文，或用它开始新的运行。</translation></message>
<message><source>{} is larger than 4 GiB</source><translation>{} 大于 4 GiB</translation></message>
<message><source>{} gives {} twice</source><translation>{} 中 {} 出现了两次</translation></message>
<message><source>{}, byte {}: the number {} is too large</source><translation>{}，第 {} 字节：数值 {} 过大</translation></message>
<message><source>{} is not JSON, or is cut short, at byte {}</source><translation>{} 不是 JSON，或在第 {} 字节处中断</translation></message>
<message><source>Download or export it again.</source><translation>请重新下载或导出。</translation></message>
<message><source>{} holds a text of more than 64 MiB</source><translation>{} 含有超过 64 MiB 的文本</translation></message>
<message><source>{} is nested more than {} levels deep</source><translation>{} 的嵌套超过 {} 层</translation></message>
<message><source>{} is no COCO file: it has no images, annotations and categories</source><translation>{} 不是 COCO 文件：没有 images、annotations 和 categories</translation></message>
<message><source>{} is no COCO file: it has no {}</source><translation>{} 不是 COCO 文件：没有 {}</translation></message>
<message><source>{}: {} is no list</source><translation>{}：{} 不是列表</translation></message>
<message><source>{}: an entry of {} is no object</source><translation>{}：{} 的一个条目不是对象</translation></message>
<message><source>{}: image {} has no valid {}</source><translation>{}：第 {} 张图片没有有效的 {}</translation></message>
<message><source>Each image needs id, file_name, width and height.</source><translation>每张图片都需要 id、file_name、width 和 height。</translation></message>
<message><source>{}: image {} leads out of its folder: {}</source><translation>{}：图片 {} 的路径指向其文件夹之外：{}</translation></message>
<message><source>{} has two images with the id {}</source><translation>{} 有两张图片的 id 都是 {}</translation></message>
<message><source>{}: category {} has no valid {}</source><translation>{}：第 {} 个类别没有有效的 {}</translation></message>
<message><source>{} has more than {} categories</source><translation>{} 的类别超过 {} 个</translation></message>
<message><source>{} has two categories with the id {}</source><translation>{} 有两个类别的 id 都是 {}</translation></message>
<message><source>{} has more than {} annotations</source><translation>{} 的标注超过 {} 个</translation></message>
<message><source>{}: image {} has more than {} annotations</source><translation>{}：图片 {} 的标注超过 {} 个</translation></message>
<message><source>{} has two categories with the name {}</source><translation>{} 有两个类别的名称都是 {}</translation></message>
<message><source>the results of another rank are damaged</source><translation>另一个进程的结果已损坏</translation></message>
<message><source>{}: passed over, since they hold no instances: {}</source><translation>{}：已跳过，因为其中没有实例标注：{}</translation></message>
<message><source>{}: {} is a link that leads out of its folder</source><translation>{}：{} 是指向其文件夹之外的链接</translation></message>
<message><source>{}: give one folder or one file, not {}</source><translation>{}：请给出一个文件夹或一个文件，而不是 {} 个</translation></message>
<message><source>Set dataset.path to its folder or file.</source><translation>请将 dataset.path 设为其文件夹或文件。</translation></message>
<message><source>{}: Halftone does not read YOLO labels yet</source><translation>{}：Halftone 还不能读取 YOLO 标注</translation></message>
<message><source>Export as COCO (Roboflow, CVAT, FiftyOne do).</source><translation>请导出为 COCO 格式（Roboflow、CVAT、FiftyOne 都支持）。</translation></message>
<message><source>{}: no annotations in COCO's format</source><translation>{}：没有 COCO 格式的标注</translation></message>
<message><source>Give a JSON file, a folder with annotations/instances_NAME.json, or one with train/{} and others.</source><translation>请给出一个 JSON 文件、含有 annotations/instances_NAME.json 的文件夹，或含有 train/{} 等文件的文件夹。</translation></message>
<message><source>{}: several annotation files, and not all are named after a part</source><translation>{}：有多个标注文件，但并非都以部分命名</translation></message>
<message><source>Name them instances_train.json, instances_val.json and so on, or give one file.</source><translation>请命名为 instances_train.json、instances_val.json 等，或只给出一个文件。</translation></message>
<message><source>{}: no training part</source><translation>{}：没有训练部分</translation></message>
<message><source>Give the annotations of one part as a file to split it.</source><translation>要划分某一部分，请直接给出其标注文件。</translation></message>
<message><source>dataset.label_ids: file: {} has the category id {}; use dense</source><translation>dataset.label_ids：file：{} 含有类别编号 {}；请使用 dense</translation></message>
<message><source>{}: {} annotations of pictures that it does not list are left out. The first has the id {}</source><translation>{}：{} 条标注属于未列出的图片，已略去。第一条的编号是 {}</translation></message>
<message><source>{}: {} annotations of categories that it does not list are left out. The first has the id {}</source><translation>{}：{} 条标注属于未列出的类别，已略去。第一条的编号是 {}</translation></message>
<message><source>{}: {} annotations whose box has no area in its picture are left out. The first has the id {}</source><translation>{}：{} 条标注的框在图片内没有面积，已略去。第一条的编号是 {}</translation></message>
<message><source>{}: an annotation has the id 0, which pycocotools would count as never found. Here it counts as any other</source><translation>{}：有一条标注的编号是 0，pycocotools 会把它当作从未被检出；这里与其他标注同样计算</translation></message>
<message><source>{}: the category id {} is {}, and another file calls it {}</source><translation>{}：类别编号 {} 是 {}，而另一个文件称之为 {}</translation></message>
<message><source>Set dataset.label_ids to dense, or number them alike.</source><translation>请将 dataset.label_ids 设为 dense，或使编号一致。</translation></message>
<message><source>{}: none of the segmentations of {} annotations fits its picture, so they train as boxes. The first has the id {}</source><translation>{}：{} 条标注的分割都与图片不符，因此只按框训练。第一条的编号是 {}</translation></message>
<message><source>dataset.classes: chosen classes get the numbers 1, 2, 3, so dataset.label_ids cannot be file</source><translation>dataset.classes：所选类别的编号为 1、2、3，因此 dataset.label_ids 不能是 file</translation></message>
<message><source>{}: the category {} is the root of the others and has no objects, so it is no class</source><translation>{}：类别 {} 是其他类别的根，没有对象，因此不作为类别</translation></message>
<message><source>{}: no pictures to train on</source><translation>{}：没有可用于训练的图片</translation></message>
<message><source>dataset.short_side: use 1 to 16 numbers</source><translation>dataset.short_side：请使用 1 到 16 个数</translation></message>
<message><source>dataset.long_side: {}: use at least the largest short side</source><translation>dataset.long_side：{}：不得小于最大的短边</translation></message>
<message><source>{}: more than {} classes</source><translation>{}：类别超过 {} 个</translation></message>
<message><source>dataset.classes: {} has no class {}</source><translation>dataset.classes：{} 没有类别 {}</translation></message>
<message><source>{}: {} pictures are turned by EXIF, and the size does not tell whether the annotations lie on the stored pixels or on the turned ones; the turned ones are taken. The first is {}</source><translation>{}：{} 张图片按 EXIF 旋转，而尺寸看不出标注对应存储的像素还是旋转后的像素；这里取旋转后的。第一张是 {}</translation></message>
<message><source>dataset.classes: name each class once, and none without a name</source><translation>dataset.classes：每个类别只写一次，且名称不能为空</translation></message>
<message><source>{}: {} of {} pictures are held out as the test part, fewer than dataset.test_share: {} asks for: they are too few, or the only ones of a class</source><translation>{}：{} 张图片（共 {} 张）留作测试部分，少于 dataset.test_share：{} 的要求：图片太少，或其余是某个类别仅有的图片</translation></message>
<message><source>{}: {} x {} pixels, and its annotations are for {} x {}</source><translation>{}：{} x {} 像素，而其标注对应 {} x {}</translation></message>
<message><source>{}: more than {} objects in one picture</source><translation>{}：一张图片中的对象超过 {} 个</translation></message>
<message><source>{}: {} boxes without an area in their picture are left out. The first is in {}</source><translation>{}：{} 个框在图片内没有面积，已略去。第一个在 {} 中</translation></message>
<message><source>{}: {} boxes reach more than a pixel out of their picture. They are cut for training; metrics take them as they are. The first is in {}</source><translation>{}：{} 个框超出图片一个像素以上。训练时将其裁剪，指标按原样计算。第一个在 {} 中</translation></message>
<message><source>{}: {} of {} objects have no mask. The first is in {}</source><translation>{}：{} 个对象（共 {} 个）没有掩码。第一个在 {} 中</translation></message>
<message><source>{}: the training part has no objects</source><translation>{}：训练部分没有对象</translation></message>
<message><source>{}: a part to test on has no objects</source><translation>{}：用于测试的部分没有对象</translation></message>
<message><source>{}: no object of the class {} is in the training part</source><translation>{}：训练部分没有类别 {} 的对象</translation></message>
<message><source>{}: no object of these classes is tested: {}</source><translation>{}：以下类别没有对象用于测试：{}</translation></message>
<message><source>dataset.long_side: {}: images would be {} x {} pixels, more than {} a side</source><translation>dataset.long_side：{}：图像将为 {} x {} 像素，边长超过 {}</translation></message>
<message><source>{}: no folder with pictures in PNGImages and masks in PedMasks, or in images and masks</source><translation>{}：不是含有图片（PNGImages）与掩码（PedMasks），或 images 与 masks 的文件夹</translation></message>
<message><source>Set dataset.path to the folder that holds both.</source><translation>请将 dataset.path 设为同时含有两者的文件夹。</translation></message>
<message><source>dataset.classes: masks have one class, so give one name</source><translation>dataset.classes：掩码只有一个类别，请给出一个名称</translation></message>
<message><source>dataset.image_size: {}: use a multiple of 32</source><translation>dataset.image_size：{}：请使用 32 的倍数</translation></message>
<message><source>{}: no folder with Annotations and JPEGImages</source><translation>{}：不是含有 Annotations 与 JPEGImages 的文件夹</translation></message>
<message><source>Set dataset.path to the folder that holds both, such as VOC2012.</source><translation>请将 dataset.path 设为同时含有两者的文件夹，例如 VOC2012。</translation></message>
<message><source>{}: the name {} leads out of the folder</source><translation>{}：名称 {} 指向文件夹之外</translation></message>
<message><source>Frozen batch norm without weights to start from</source><translation>冻结批归一化，却没有初始权重</translation></message>
<message><source>Frozen norms have the statistics of trained weights. With random ones the activations grow from layer to layer, and the first losses are far too large.</source><translation>冻结的归一化使用训练好的权重的统计量。若权重是随机的，激活值会逐层增大，最初的损失会过大。</translation></message>
<message><source>A detector with frozen batch norm and no warm-up</source><translation>检测器冻结了批归一化，却没有预热</translation></message>
<message><source>Its new heads have large gradients at first, and no norm limits what they do to the body. torchvision warms up over 1,000 updates.</source><translation>新的头部起初梯度很大，而没有归一化限制其对主干的影响。torchvision 预热 1,000 次更新。</translation></message>
<message><source>A learning rate of {} for {} pictures an update</source><translation>学习率为 {}，每次更新 {} 张图片</translation></message>
<message><source>Detectors are trained with SGD at 0.02 for 16 pictures, and in proportion. Above twice that they often diverge.</source><translation>检测器通常用 SGD 训练，16 张图片对应 0.02，按比例缩放。超过两倍时常会发散。</translation></message>
<message><source>Batch norm over a single picture</source><translation>批归一化只有一张图片</translation></message>
<message><source>The statistics of one picture differ much from those that an evaluation uses.</source><translation>一张图片的统计量与评估时所用的相差很大。</translation></message>
<message><source>{}: the task of this run has no results to write: object detection has</source><translation>{}：此次运行的任务没有可写出的结果；目标检测才有</translation></message>
<message><source>the decisions of a batch are of another shape</source><translation>某个批次的决策形状不符</translation></message>
<message><source>The proposals do not fit the batch.</source><translation>候选框与批次不符。</translation></message>
<message><source>model.options.masks: true: use false, since no object of the data has a mask</source><translation>model.options.masks：true：请用 false，因为数据中没有带掩码的目标</translation></message>
<message><source>Object detection</source><translation>目标检测</translation></message>
<message><source>Finds the objects of a picture: boxes, classes and masks.</source><translation>找出图片中的目标：边框、类别和掩码。</translation></message>
<message><source>Mask AP</source><translation>掩码 AP</translation></message>
<message><source>Box AP</source><translation>边框 AP</translation></message>
<message><source>Box AP50</source><translation>边框 AP50</translation></message>
<message><source>Box AP75</source><translation>边框 AP75</translation></message>
<message><source>Class loss</source><translation>分类损失</translation></message>
<message><source>Box loss</source><translation>边框损失</translation></message>
<message><source>Mask loss</source><translation>掩码损失</translation></message>
<message><source>Objectness loss</source><translation>目标性损失</translation></message>
<message><source>Proposal box loss</source><translation>候选框损失</translation></message>
<message><source>it is nested too deeply</source><translation>嵌套过深</translation></message>
<message><source>it has more than {} objects</source><translation>对象超过 {} 个</translation></message>
<message><source>{} is no number</source><translation>{} 不是数</translation></message>
<message><source>object {} has no name or no box</source><translation>第 {} 个对象没有名称或没有框</translation></message>
<message><source>its root is {} instead of annotation</source><translation>根元素是 {}，而不是 annotation</translation></message>
<message><source>it has entity definitions</source><translation>含有实体定义</translation></message>
<message><source>{}: no annotation of Pascal VOC: {}</source><translation>{}：不是 Pascal VOC 的标注：{}</translation></message>
<message><source>There is no memory to read {}.</source><translation>内存不足，无法读取 {}。</translation></message>
<message><source>{} in line {}</source><translation>第 {1} 行：{0}</translation></message>
<message><source>{}: no PNG picture</source><translation>{}：不是 PNG 图片</translation></message>
<message><source>{}: a picture in colour; a mask is grey or has a palette</source><translation>{}：是彩色图片；掩码须为灰度图或调色板图</translation></message>
<message><source>dataset.normalize: false: use true, since detectors expect it</source><translation>dataset.normalize：false：请使用 true，检测模型需要归一化</translation></message>
<message><source>{}: the weights are written there.</source><translation>{}：权重写在这个文件里。</translation></message>
<message><source>Name the text of the network otherwise, as in model.py.</source><translation>请给网络的文本另取文件名，例如 model.py。</translation></message>
<message><source>The default of the option {} cannot be changed in this text: write it on one line.</source><translation>无法在此文本中修改选项 {} 的默认值：请把它写在一行里。</translation></message>
<message><source>Mask R-CNN, ResNet-18</source><translation>Mask R-CNN，ResNet-18</translation></message>
<message><source>Mask R-CNN, ResNet-50</source><translation>Mask R-CNN，ResNet-50</translation></message>
<message><source>Finds objects, their boxes and masks. Small: learns drawn scenes on a CPU in minutes.</source><translation>找出物体及其边界框和掩码。规模小：在 CPU 上几分钟就能学会绘制的场景。</translation></message>
<message><source>Finds objects, their boxes and masks: torchvision's network with its sizes, whose weights it reads.</source><translation>找出物体及其边界框和掩码：与 torchvision 的网络规模相同，可读取其权重。</translation></message>
<message><source>How the body's batch norms work.</source><translation>主干网络的批归一化如何工作。</translation></message>
<message><source>Trained, by the statistics of the batch.</source><translation>参与训练，使用批次的统计量。</translation></message>
<message><source>Frozen</source><translation>冻结</translation></message>
<message><source>Statistics and weights stay as model.init_from has them: for small batches.</source><translation>统计量和权重保持 model.init_from 中的值：适合小批量。</translation></message>
<message><source>Frozen eps</source><translation>冻结层的 eps</translation></message>
<message><source>Added to the variances of frozen norms. torchvision's file for COCO needs 0.</source><translation>加到冻结归一化层的方差上。torchvision 的 COCO 权重文件需要 0。</translation></message>
<message><source>Trained stages</source><translation>训练的阶段</translation></message>
<message><source>How many parts of the body are trained, from the last on: layer4, layer3, layer2, layer1, conv1.</source><translation>主干网络从最后一个起有多少部分参与训练：layer4、layer3、layer2、layer1、conv1。</translation></message>
<message><source>Pyramid channels</source><translation>金字塔通道数</translation></message>
<message><source>Channels of the maps that regions are found and read in.</source><translation>用于寻找和读取区域的特征图的通道数。</translation></message>
<message><source>Anchor sizes</source><translation>锚框尺寸</translation></message>
<message><source>Side of the anchors of each of the five maps. Each place has three, with heights over widths of 0.5, 1 and 2.</source><translation>五个特征图各自锚框的边长。每个位置有三个锚框，高宽比为 0.5、1 和 2。</translation></message>
<message><source>Sampled anchors</source><translation>采样的锚框</translation></message>
<message><source>Anchors of a picture that the loss is taken of; at most half of them lie on objects.</source><translation>每张图片参与损失的锚框数；其中至多一半位于物体上。</translation></message>
<message><source>Proposals before suppression</source><translation>抑制前的候选区域</translation></message>
<message><source>The best regions of each map, before overlapping ones are dropped: in training and in evaluation.</source><translation>去除重叠之前，每个特征图保留的最佳区域数：训练时和评估时。</translation></message>
<message><source>Proposals</source><translation>候选区域</translation></message>
<message><source>Regions of a picture that remain: in training and in evaluation.</source><translation>每张图片保留的区域数：训练时和评估时。</translation></message>
<message><source>Sampled regions</source><translation>采样的区域</translation></message>
<message><source>Regions of a picture that the heads learn from; at most a quarter of them lie on objects.</source><translation>每张图片供头部学习的区域数；其中至多四分之一位于物体上。</translation></message>
<message><source>Canonical size</source><translation>基准尺寸</translation></message>
<message><source>Regions of this side are read in the third map, larger and smaller ones in others.</source><translation>此边长的区域在第三个特征图中读取，更大或更小的在其他特征图中读取。</translation></message>
<message><source>Hidden</source><translation>隐藏宽度</translation></message>
<message><source>Width of the two layers that classify a region.</source><translation>对区域分类的两个层的宽度。</translation></message>
<message><source>Mask layers</source><translation>掩码层</translation></message>
<message><source>Channels of the convolutions that draw a region's mask.</source><translation>绘制区域掩码的卷积层的通道数。</translation></message>
<message><source>Masks</source><translation>掩码</translation></message>
<message><source>Draws a mask of each object. Without it the network is Faster R-CNN.</source><translation>为每个物体绘制掩码。关闭后网络就是 Faster R-CNN。</translation></message>
<message><source>Score threshold</source><translation>得分阈值</translation></message>
<message><source>Detections with lower scores are dropped in an evaluation.</source><translation>评估时去掉得分更低的检测结果。</translation></message>
<message><source>Overlap threshold</source><translation>重叠阈值</translation></message>
<message><source>Of two detections of a class that overlap by more, the one with the lower score is dropped.</source><translation>同一类别的两个检测结果重叠超过此值时，去掉得分较低的一个。</translation></message>
<message><source>Detections</source><translation>检测数</translation></message>
<message><source>The most detections of a picture.</source><translation>每张图片的最多检测数。</translation></message>
<message><source>Detectors cannot be written as ONNX yet.</source><translation>检测模型尚不能导出为 ONNX。</translation></message>
<message><source>Export the weights as safetensors.</source><translation>请将权重导出为 safetensors。</translation></message>
<message><source>model.options.{}: use {} numbers</source><translation>model.options.{}：使用 {} 个数</translation></message>
<message><source>model.options.mask_layers: use at least one number</source><translation>model.options.mask_layers：至少使用一个数</translation></message>
<message><source>Short side</source><translation>短边</translation></message>
<message><source>Shorter side of the images after resizing. Of several, training draws one for each picture, and evaluation takes the last.</source><translation>缩放后图像的短边。给出多个值时，训练为每张图片随机取一个，评估取最后一个。</translation></message>
<message><source>Long side</source><translation>长边</translation></message>
<message><source>Limit for the longer side of the images: a long picture gets a shorter short side.</source><translation>图像长边的上限：细长的图片短边会更短。</translation></message>
<message><source>Canvas</source><translation>画布</translation></message>
<message><source>Size of the images that the model gets, in which smaller pictures are padded.</source><translation>模型得到的图像尺寸，较小的图片在其中填充。</translation></message>
<message><source>By batch</source><translation>按批次</translation></message>
<message><source>The largest picture of the batch, rounded up to 32 pixels.</source><translation>批次中最大的图片，向上取整到 32 像素的倍数。</translation></message>
<message><source>Fixed</source><translation>固定</translation></message>
<message><source>One size for the run, so that a step can be captured on a GPU.</source><translation>整个运行使用同一尺寸，以便在 GPU 上捕获训练步。</translation></message>
<message><source>Classes</source><translation>类别</translation></message>
<message><source>Learn only these classes. Empty: all.</source><translation>只学习这些类别。留空：全部。</translation></message>
<message><source>Keep empty pictures</source><translation>保留空图片</translation></message>
<message><source>Trains on pictures without objects, too. They are always evaluated.</source><translation>也用没有物体的图片训练。评估总是包含它们。</translation></message>
<message><source>Fraction of the pictures held out as the test set, drawn by the seed, where the files have no test part of their own.</source><translation>文件没有自带测试部分时，按种子随机留作测试集的图片比例。</translation></message>
<message><source>What to do about pictures that are missing, or whose header cannot be read or does not fit their annotations.</source><translation>图片缺失、文件头无法读取或与标注不符时如何处理。</translation></message>
<message><source>They are left out with a warning.</source><translation>跳过它们并给出警告。</translation></message>
<message><source>Side of a scene, a multiple of 32. Shapes take 9 to 25 % of it in each direction from their middle.</source><translation>场景的边长，为 32 的倍数。形状从中心向各方向占其 9 % 到 25 %。</translation></message>
<message><source>Shapes</source><translation>形状</translation></message>
<message><source>The most shapes of a scene, which has 1 to this many.</source><translation>一个场景中形状的最大数量，实际为 1 到此值。</translation></message>
<message><source>Drawn scenes of squares, discs and triangles with boxes and masks, made from the seed; nothing to download.</source><translation>由种子绘制的方形、圆形和三角形场景，带有边界框和掩码，无需下载。</translation></message>
<message><source>Class numbers</source><translation>类别编号</translation></message>
<message><source>Numbers of the classes in the model.</source><translation>类别在模型中的编号。</translation></message>
<message><source>Dense</source><translation>连续</translation></message>
<message><source>As in the file</source><translation>与文件相同</translation></message>
<message><source>The category ids, with their gaps, as COCO weights of torchvision need them: 91 outputs.</source><translation>使用类别 id（保留间隔），torchvision 的 COCO 权重需要这样：91 个输出。</translation></message>
<message><source>COCO</source><translation>COCO</translation></message>
<message><source>Pictures with boxes and masks in COCO's JSON format, as COCO itself, Roboflow, CVAT and FiftyOne write it.</source><translation>采用 COCO JSON 格式的带边界框和掩码的图片，如 COCO 本身、Roboflow、CVAT 和 FiftyOne 所写。</translation></message>
<message><source>a JSON file, or the folder with the annotations and the pictures</source><translation>一个 JSON 文件，或包含标注和图片的文件夹</translation></message>
<message><source>Pascal VOC</source><translation>Pascal VOC</translation></message>
<message><source>Pictures with boxes in Pascal VOC's XML format, and with masks where there is a folder SegmentationObject.</source><translation>采用 Pascal VOC XML 格式的带边界框的图片；有 SegmentationObject 文件夹时还带掩码。</translation></message>
<message><source>the folder with Annotations and JPEGImages</source><translation>包含 Annotations 和 JPEGImages 的文件夹</translation></message>
<message><source>Pictures with masks</source><translation>带掩码的图片</translation></message>
<message><source>Pictures and, for each, a PNG whose values number the objects, such as the pedestrians of Penn-Fudan. Boxes are the extents of the masks, the last pixel included.</source><translation>图片及其对应的 PNG，像素值为物体编号，例如 Penn-Fudan 的行人。边界框是掩码的范围，包含最后一个像素。</translation></message>
<message><source>the folder with PNGImages and PedMasks, or images and masks</source><translation>包含 PNGImages 和 PedMasks，或 images 和 masks 的文件夹</translation></message>
<message><source>1, 2, 3, by their ids in the file.</source><translation>按文件中的 id 顺序编为 1、2、3。</translation></message>
<message><source>{}: holds the body of the detector alone, and all else is drawn anew</source><translation>{}：只包含检测模型的主干网络，其余部分重新随机初始化</translation></message>
</context>
</TS>
