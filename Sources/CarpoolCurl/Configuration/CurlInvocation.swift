/// A command line of `carpool curl`, after its options, configuration files and variables were read.
struct CurlInvocation: Equatable {
    /// The settings that apply to all transfers.
    var global = CurlGlobalOptions()
    /// What `--next` separates.
    var operations: [CurlOperation] = []
}

/// The options that apply to all transfers of a command line.
struct CurlGlobalOptions: Equatable {
    /// How `-v`, `--trace` and `--trace-ascii` describe the exchange.
    enum Trace: Equatable {
        case none
        /// `-v`
        case verbose
        /// `--trace-ascii FILE`; `-` is standard output and `%` standard error.
        case ascii(String)
        /// `--trace FILE`
        case hexadecimal(String)
    }

    /// `-s`
    var isSilent = false
    /// `-S`
    var showsErrors = false
    /// `--no-progress-meter`
    var hidesProgress = false
    /// `-#`
    var hasProgressBar = false
    /// `--stderr FILE`; `-` is standard output.
    var errorFile: String?
    var trace = Trace.none
    /// `--trace-time`
    var tracesTime = false
    /// `-Z`
    var isParallel = false
    /// `--parallel-max`
    var maximumParallel = 50
    /// `--fail-early`
    var failsEarly = false
    /// `--rate`: the least time between the starts of two transfers.
    var rateMilliseconds: Int?
    /// `--no-fallback`, an option of Carpool: the real curl is never started.
    var forbidsFallback = false
}
