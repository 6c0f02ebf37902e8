import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { canInstall, newRelease, VERSION } from "./made-release.ts";

const hasRuby = canInstall && spawnSync("ruby", ["--version"]).error === undefined;
if (!hasRuby) process.stderr.write("SKIPPED: the formula for Homebrew needs ruby\n");

// What is checked in its place: the formula's steps on Linux, the format and the checksum of the program for macOS.
if (process.platform !== "darwin")
  process.stderr.write(
    "NOT TESTED: a run on macOS, which this machine is not; its formula and archive are checked here\n",
  );

/** What Homebrew gives a formula, as far as this one uses it: on Linux and x64, with the files of a release in a folder. */
const HOMEBREW = `
require "digest"
require "fileutils"
require "open3"
require "pathname"

class Pathname
  def install(file) = (mkpath; FileUtils.cp(file, self))
end

module OS
  def self.mac? = false
end

class Formula
  class << self
    attr_reader :told, :test_block
    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value = nil| value ? (@told ||= {})[name] = value : @told[name] }
    end
    def on_macos = nil
    def on_linux = yield
    def on_intel = yield
    def on_arm = nil
    def service = nil
    def test(&block) = @test_block = block
  end

  def initialize(prefix) = @prefix = Pathname(prefix)
  def version = self.class.version
  def bin = @prefix/"bin"
  def var = @prefix/"var"
  def system(*words) = Kernel.system(*words.map(&:to_s)) || raise(words.join(" "))
  def generate_completions_from_executable(*words)
    %w[bash zsh fish].each do |shell|
      text = shell_output([*words, shell].join(" "))
      raise "no completion for #{shell}" unless text.include?("formsvc")
    end
  end
  def shell_output(line)
    text, status = Open3.capture2(line)
    status.success? ? text : raise(line)
  end
  def assert_equal(wanted, found) = wanted == found || raise("#{found} is not #{wanted}")
end

release, prefix, work = ARGV
load File.join(release, "formsvc.rb")
archive = File.join(release, File.basename(Formsvc.url))
raise "another checksum" unless Digest::SHA256.file(archive).hexdigest == Formsvc.sha256
Kernel.system("tar", "-xzf", archive, "-C", work, "--strip-components=1") || raise("tar")
Dir.chdir(work)
formula = Formsvc.new(prefix)
formula.install
formula.post_install
formula.instance_exec(&Formsvc.test_block)
puts Formsvc.told.slice(:version, :license)
`;

test.skipIf(!hasRuby)(
  "the formula is Ruby, names every archive's checksum, and its steps install a program that passes its test",
  () => {
    const formula = join(newRelease, "formsvc.rb");
    expect(execFileSync("ruby", ["-wc", formula], { encoding: "utf8" })).toContain("Syntax OK");
    const sums = readFileSync(join(newRelease, "SHA256SUMS"), "utf8");
    const [, sum = "none"] = /^(\S+) {2}formsvc-\S+-linux-x64\.tar\.gz$/m.exec(sums) ?? [];
    expect(readFileSync(formula, "utf8")).toContain(`sha256 "${sum}"`);

    const folder = temporaryFolder();
    const script = join(folder, "homebrew.rb");
    writeFileSync(script, HOMEBREW);
    const brew = (release: string) => {
      const [prefix, work] = [join(folder, "prefix"), join(folder, "work")];
      execFileSync("sh", ["-c", 'rm -rf "$@" && mkdir "$@"', "sh", prefix, work]);
      return spawnSync("ruby", [script, release, prefix, work], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] },
      });
    };
    const ran = brew(newRelease);
    expect([ran.status, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout).toContain(VERSION);
    expect(existsSync(join(folder, "prefix/bin/formsvc"))).toBe(true);
    expect(existsSync(join(folder, "prefix/var/formsvc"))).toBe(true);

    const changed = join(folder, "changed");
    mkdirSync(changed);
    const archive = `formsvc-${VERSION}-linux-x64.tar.gz`;
    symlinkSync(join(newRelease, archive), join(changed, archive));
    writeFileSync(join(changed, "formsvc.rb"), readFileSync(formula, "utf8").replaceAll(sum, "0".repeat(64)));
    expect(brew(changed).stderr).toContain("another checksum");
  },
);
