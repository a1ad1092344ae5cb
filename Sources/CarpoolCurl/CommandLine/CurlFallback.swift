internal import CarpoolSystem
internal import Glibc

/// Runs the real curl in the place of this program.
struct CurlFallback {
    /// Tells a program that it was started in the place of curl: a script named curl that calls this program again must
    /// not do so without end.
    static let guardVariable = "CARPOOL_CURL_FALLBACK"

    /// How many of the process's last arguments are those of curl. They are passed as they are, whatever their bytes.
    let count: Int
    let environment: Environment

    /// The path of the real curl on PATH: not this program, whatever it is called. `nil` without one.
    func path() -> String? {
        var own = stat()
        guard let program = ProgramArguments.programPath, stat(program, &own) == 0 else { return nil }
        let folders = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in folders.split(separator: ":", omittingEmptySubsequences: false) {
            let path = folder.isEmpty ? "./curl" : "\(folder)/curl"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
                continue
            }
            if status.st_dev != own.st_dev || status.st_ino != own.st_ino { return path }
        }
        return nil
    }

    /// Gives back what was read, and replaces this program; returns only if that fails.
    func run(_ path: String, _ consumed: [CurlConsumedInput]) {
        for input in consumed {
            guard let memory = try? FileDescriptor.sealed(input.bytes) else { return }
            lseek(memory.raw, 0, SEEK_SET)
            dup2(memory.raw, input.descriptor)
        }
        setenv(CurlFallback.guardVariable, "1", 1)
        // The word before them becomes the name of the program.
        guard let words = ProgramArguments.values.map({ $0 + (ProgramArguments.count - count - 1) }) else { return }
        words.pointee = strdup("curl")
        execv(path, words)
    }
}
