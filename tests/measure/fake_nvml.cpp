// A library with the functions of NVML that the tool calls, and known answers. Built once with all
// of them, once (FAKE_NVML_OLD) as an old driver has them: fewer, and under older names.
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
int starts = 0;
int the_device = 0;
}  // namespace

EXPORT int fake_nvml_starts() { return starts; }
EXPORT int nvmlShutdown() { return --starts, 0; }

#ifdef FAKE_NVML_OLD
EXPORT int nvmlInit() { return ++starts, 0; }
EXPORT int nvmlDeviceGetHandleByPciBusId(const char* id, void** device) {
  *device = &the_device;
  return std::strcmp(id, "0000:17:00.0") == 0 ? 0 : 6;
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = 0x44;
  return device == &the_device ? 0 : 2;
}
#else
EXPORT int nvmlInit_v2() { return ++starts, 0; }
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &the_device;
  return std::strcmp(id, "0000:17:00.0") == 0 ? 0 : 6;
}
EXPORT int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1755 : type == 2 ? 3201 : 0;
  return device == &the_device && (type == 1 || type == 2) ? 0 : 2;
}
EXPORT int nvmlDeviceGetMaxClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = 0x1;
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  *celsius = 41;
  return sensor == 0 ? 0 : 2;
}
EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 122400;
  return 0;
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700000;
  return 0;
}
EXPORT int nvmlDeviceGetEccMode(void*, unsigned* current, unsigned* pending) {
  *current = 1;
  *pending = 0;
  return 0;
}
EXPORT int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return 3; }  // not supported
EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "580.1.2", length);
  return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  *count = 70;
  return 7;  // more than there was room for
}
#endif
