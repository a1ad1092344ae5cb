/// The speed of the last seconds, between the first and the last one of some samples.
struct CurlSpeed {
    private let maximum: Int
    private var samples: [(microseconds: Int64, bytes: Int64)] = [(0, 0)]

    /// - Parameter maximum: how many samples are kept.
    init(samples maximum: Int) { self.maximum = maximum }

    /// Adds a sample; returns the speed in bytes a second. Fewer bytes than before are those of another request.
    mutating func take(_ bytes: Int64, at microseconds: Int64) -> Int64 {
        if let last = samples.last, bytes < last.bytes { samples = [(last.microseconds, 0)] }
        samples.append((microseconds, bytes))
        if samples.count > maximum { samples.removeFirst() }
        return CurlProgress.speed(bytes - samples[0].bytes, microseconds - samples[0].microseconds)
    }
}
