// Every CUDA source of the kernels, compiled for the host layer.
#include "kernels/cuda/rope_fast.cu"
#include "kernels/cuda/rope_simple.cu"
#include "kernels/cuda/stream.cu"
