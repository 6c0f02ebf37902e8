import type { Parts } from "./parts.ts";

/** Writes the formula for Homebrew. @param sums the SHA-256 of each archive by platform */
export function makeFormula(parts: Parts, sums: ReadonlyMap<string, string>): string {
  const { version } = parts;
  const url = parts.url === "" ? "https://releases.invalid" : parts.url;
  const from = (platform: string): string =>
    `url "${url}/formsvc-${version}-${platform}.tar.gz"
      sha256 "${sums.get(platform) ?? ""}"`;
  return `class Formsvc < Formula
  desc "Form backend in one executable and one SQLite file"
  homepage "${url}"
  version "${version}"
  license "MIT"

  on_macos do
    on_arm do
      ${from("macos-arm64")}
    end
  end

  on_linux do
    on_intel do
      ${from("linux-x64")}
    end
    on_arm do
      ${from("linux-arm64")}
    end
  end

  def install
    bin.install "formsvc"
    # The release is built on Linux, which cannot sign, and macOS starts no unsigned program.
    system "codesign", "--force", "--sign", "-", bin/"formsvc" if OS.mac?
    generate_completions_from_executable(bin/"formsvc", "completion")
  end

  service do
    run [opt_bin/"formsvc", "serve"]
    keep_alive true
    working_dir var/"formsvc"
    log_path var/"log/formsvc.log"
  end

  def post_install
    (var/"formsvc").mkpath
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/formsvc version").strip
  end
end
`;
}
