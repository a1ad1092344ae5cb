internal import CarpoolCaller
internal import CarpoolClient

extension RequestArguments {
    /// Refuses two options that are read from standard input: the second one would find nothing there.
    func checkStandardInput() throws(UsageError) {
        let options = optionsFromStandardInput
        guard options.count > 1 else { return }
        throw UsageError(
            "\(options[0]) and \(options[1]) read standard input, which can be read once: use a file for one of them")
    }

    private var optionsFromStandardInput: [String] {
        var options: [String] = []
        func add(_ option: String, _ path: String?) {
            if let path, InputFile.isStandardInput(path) { options.append(option + path) }
        }
        for case .file(let path) in headers { add("-H @", path) }
        for path in cookies.files { add("-b ", path) }
        add("--oauth2-client-secret @", oauth2.secretFile)
        add("-w @", writeOut?.file)
        add("--input-file ", inputFile)
        switch body {
        case .standardInput: add(isJSON ? "--json @" : "-d @", "-")
        case .file(let path): add(isJSON ? "--json @" : "-d @", path)
        case .stream: add("-T ", "-")
        case .upload(let path): add("-T ", path)
        case .text, .form, nil: break
        }
        return options
    }
}
