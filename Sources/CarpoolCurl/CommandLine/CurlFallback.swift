internal import CarpoolSystem
internal import Glibc

/// Runs the real curl in the place of this program.
struct CurlFallback {
    /// Tells a program that it was started in the place of curl, and has the paths of all that were: a script named
    /// curl that calls this program again, or another copy of this program, is passed over then.
    static let guardVariable = "CARPOOL_CURL_FALLBACK"

    /// How many of the process's last arguments are those of curl. They are passed as they are, whatever their bytes.
    let count: Int
    let environment: Environment

    /// The paths of programs called curl on PATH that are not this one, in the order of PATH, without those that were
    /// run already. Folders that are not named from the root on are not searched: what they have depends on where the
    /// command was called.
    func candidates() -> [String] {
        var own = stat()
        let isKnown = ProgramArguments.programPath.map { SystemPath.withBytes($0) { stat($0, &own) } == 0 } ?? false
        let tried = tried
        var found: [String] = []
        for folder in (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
            let path = "\(folder)/curl"
            var status = stat()
            guard folder.hasPrefix("/"), !tried.contains(path), !found.contains(path),
                SystemPath.withBytes(path, { stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG,
                SystemPath.withBytes(path, { access($0, X_OK) }) == 0
            else { continue }
            if isKnown, status.st_dev == own.st_dev, status.st_ino == own.st_ino { continue }
            found.append(path)
        }
        return found
    }

    /// The paths that were run already.
    private var tried: [String] {
        (environment[CurlFallback.guardVariable] ?? "").split(separator: ":").map(String.init)
    }

    /// Gives back what was read, and replaces this program; returns only if that fails.
    func run(_ path: String, _ consumed: [CurlConsumedInput]) {
        for input in consumed {
            guard let memory = try? FileDescriptor.sealed(input.bytes) else { return }
            lseek(memory.raw, 0, SEEK_SET)
            dup2(memory.raw, input.descriptor)
        }
        SystemPath.withBytes((tried + [path]).joined(separator: ":")) { _ = setenv(CurlFallback.guardVariable, $0, 1) }
        // The word before them becomes the name of the program.
        guard let words = ProgramArguments.values.map({ $0 + (ProgramArguments.count - count - 1) }) else { return }
        words.pointee = strdup("curl")
        SystemPath.withBytes(path) { _ = execv($0, words) }
    }
}
