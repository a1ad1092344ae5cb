// The peer of the idle rows: a Swift program that has libcurl and jansson loaded and initialized, and nothing to do.
import CCurl
import CJansson
import Glibc

@main struct Bare {
    nonisolated static func main() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        let multi = curl_multi_init()
        let document = json_loads("{\"ready\":true}", 0, nil)
        print(multi != nil && document != nil ? "ready" : "failed")
        fflush(stdout)
        pause()
    }
}
