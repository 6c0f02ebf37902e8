/*
 * A plugin for QEMU's user mode (7.2 and later): adds up the instructions that a program executes, in the first 8 bytes of the file that
 * COUNT_FILE names. Threads that add at the same moment may lose some.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The part of QEMU's plugin interface, version 1, that is used here; distributions leave its header out. */
struct qemu_plugin_tb;
typedef void (*on_block_t)(uint64_t id, struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block_t on_block);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int add, void *to, uint64_t value);

#define EXPORT __attribute__((visibility("default")))
#define ADD_U64 0

EXPORT int qemu_plugin_version = 1;

static uint64_t *count;

static void count_block(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, count, qemu_plugin_tb_n_insns(block));
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
  const char *name = getenv("COUNT_FILE");
  int file = name == NULL ? -1 : open(name, O_RDWR | O_CREAT, 0600);
  (void)info, (void)argc, (void)argv;
  if (file < 0 || ftruncate(file, sizeof *count) != 0) return 1;
  count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
  return 0;
}
