#include "hostile_pages.h"

#include <fmt/format.h>

#include <string_view>

namespace millrace::render {
namespace {

// In scripts, errors are swallowed: the next line is to be tried as well.
constexpr Way kWays[] = {
    {"img", "<img src='http://@H/a'>"},
    {"img_srcset", "<img srcset='http://@H/a 1x, http://@H/b 2x'>"},
    {"picture", "<picture><source srcset='http://@H/a'><img src='http://@H/b'></picture>"},
    {"lazy_img", "<img loading=lazy style='margin-top:9000px' src='http://@H/a'>"},
    {"svg_image", "<svg><image href='http://@H/a' width=9 height=9 /></svg>"},
    {"svg_use",
     "<svg><use href='http://@H/a#b' /></svg>",
     {.unheard = "the browser takes no drawing from another origin"}},
    {"svg_feimage",
     "<svg><filter id=f><feImage href='http://@H/a'/></filter>"
     "<rect filter='url(#f)' width=9 height=9 /></svg>"},
    {"css_import", "<style>@import url('http://@H/a');</style>"},
    {"css_link", "<link rel=stylesheet href='http://@H/a'>"},
    {"css_background", "<p style='background:url(http://@H/a)'>x"},
    {"css_list", "<ul style='list-style-image:url(http://@H/a)'><li>x</ul>"},
    {"css_cursor", "<p style='cursor:url(http://@H/a),auto'>x"},
    {"css_content", "<style>p::before{content:url(http://@H/a)}</style><p>x"},
    {"css_mask", "<p style='mask-image:url(http://@H/a)'>x"},
    {"css_font",
     "<style>@font-face{font-family:f;src:url(http://@H/a)}</style>"
     "<p style='font-family:f'>x"},
    {"video", "<video src='http://@H/a' poster='http://@H/b' autoplay></video>"},
    {"audio", "<audio src='http://@H/a' autoplay></audio>"},
    {"track", "<video crossorigin><track src='http://@H/a' kind=subtitles default></video>"},
    {"object", "<object data='http://@H/a'></object>"},
    {"embed", "<embed src='http://@H/a'>"},
    {"iframe", "<iframe src='http://@H/a'></iframe>"},
    {"iframe_srcdoc", "<iframe srcdoc=\"<img src='http://@H/a'>\"></iframe>"},
    {"iframe_sandboxed",
     "<iframe sandbox='allow-scripts' srcdoc=\""
     "<script>fetch('http://@H/a')</script>\"></iframe>"},
    {"iframe_data", "<iframe src=\"data:text/html,<img src='http://@H/a'>\"></iframe>"},
    {"frameset", "<iframe srcdoc=\"<frameset><frame src='http://@H/a'></frameset>\"></iframe>"},
    {"base", "<base href='http://@H/'><img src=a>"},
    {"meta_refresh",
     "<meta http-equiv=refresh content='0;url=http://@H/a'>",
     {.past_policy = true}},
    {"meta_csp_report",
     "<meta http-equiv=Content-Security-Policy "
     "content=\"default-src 'none'; report-uri http://@H/a\"><img src=x:>",
     {.unheard = "the browser knows report-uri in headers only"}},
    {"prefetch", "<link rel=prefetch href='http://@H/a'>", {.past_interception = true}},
    {"preconnect",
     "<link rel=preconnect href='http://@H'>",
     {.unheard = "the shell has nothing that connects ahead"}},
    {"dns_prefetch",
     "<link rel=dns-prefetch href='http://@H'>",
     {.unheard = "a name that is looked up is no connection; and the shell looks up none ahead"}},
    {"preload", "<link rel=preload as=image href='http://@H/a'>"},
    {"modulepreload", "<link rel=modulepreload href='http://@H/a'>", {.with_scripts = true}},
    {"prerender",
     "<script type=speculationrules>{\"prerender\":[{\"urls\":[\"http://@H/a\"]}],"
     "\"prefetch\":[{\"urls\":[\"http://@H/b\"]}]}</script>",
     {.past_policy = true, .past_interception = true}},
    {"icon", "<link rel=icon href='http://@H/a'>", {.unheard = "the shell shows no icons"}},
    {"manifest",
     "<link rel=manifest href='http://@H/a'>",
     {.unheard = "the shell installs nothing"}},
    {"script_src", "<script src='http://@H/a'></script>"},
    {"module_src", "<script type=module>import 'http://@H/a'</script>"},
    {"dynamic_import", "<script>import('http://@H/a').catch(()=>{})</script>"},
    {"fetch", "<script>fetch('http://@H/a').catch(()=>{})</script>"},
    {"fetch_keepalive",
     "<script>fetch('http://@H/a',{method:'POST',body:'x',keepalive:true})"
     "</script>",
     {.past_interception = true}},
    {"xhr", "<script>x=new XMLHttpRequest;x.open('GET','http://@H/a');x.send()</script>"},
    {"xhr_sync",
     "<script>x=new XMLHttpRequest;x.open('GET','http://@H/a',false);x.send()"
     "</script>"},
    {"beacon",
     "<script>navigator.sendBeacon('http://@H/a','x')</script>",
     {.past_interception = true}},
    {"websocket", "<script>new WebSocket('ws://@H/a')</script>", {.past_interception = true}},
    {"eventsource", "<script>new EventSource('http://@H/a')</script>"},
    {"webtransport",
     "<script>new WebTransport('https://@H/a')</script>",
     {.unheard = "only in secure contexts"}},
    {"webrtc",
     "<script>p=new RTCPeerConnection({iceServers:[{urls:'stun:@H'},"
     "{urls:'turn:@H?transport=tcp',username:'a',credential:'b'}]});"
     "p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))"
     "</script>",
     {.past_policy = true, .past_interception = true}},
    {"worker_blob",
     "<script>new Worker(URL.createObjectURL(new Blob([\""
     "fetch('http://@H/a')\"])))</script>",
     {.past_interception = true}},
    {"worker_data",
     "<script>new Worker(\"data:text/javascript,fetch('http://@H/a')\")</script>",
     {.past_interception = true}},
    {"worker_url",
     "<script>new Worker('http://@H/a')</script>",
     {.unheard = "the browser starts no worker of another origin"}},
    {"shared_worker",
     "<script>new SharedWorker(\"data:text/javascript,fetch('http://@H/a')\")"
     "</script>",
     {.unheard = "not where there is no origin"}},
    {"service_worker",
     "<script>navigator.serviceWorker.register('http://@H/a')</script>",
     {.unheard = "not where there is no origin"}},
    {"worklet",
     "<script>CSS.paintWorklet.addModule('http://@H/a')</script>",
     {.unheard = "only in secure contexts"}},
    {"form",
     "<form action='http://@H/a' id=f><input name=a value=b></form>"
     "<script>f.submit()</script>"},
    {"form_post",
     "<form method=post action='http://@H/a' target=_blank id=f></form>"
     "<script>f.submit()</script>",
     {.past_interception = true}},
    {"ping",
     "<a ping='http://@H/a' href='#x' id=a>x</a><script>a.click()</script>",
     {.past_interception = true}},
    {"download",
     "<a download href='http://@H/a' id=a>x</a><script>a.click()</script>",
     {.past_policy = true}},
    {"window_open",
     "<script>open('http://@H/a')</script>",
     {.past_policy = true, .past_interception = true}},
    {"window_open_write",
     "<script>w=open('');w.document.write(\"<img src='http://@H/a'>\")"
     "</script>"},
    {"location", "<script>location='http://@H/a'</script>", {.past_policy = true}},
    {"location_late",
     "<script>onload=()=>{location.href='http://@H/a'}</script>",
     {.past_policy = true}},
    {"document_write", "<script>document.write(\"<img src='http://@H/a'>\")</script>"},
    {"blob_frame",
     "<script>f=document.createElement('iframe');f.src=URL.createObjectURL("
     "new Blob([\"<img src='http://@H/a'>\"],{type:'text/html'}));"
     "document.documentElement.append(f)</script>"},
    {"no_policy",
     "<script>document.querySelector('meta[http-equiv]')?.remove();"
     "fetch('http://@H/a').catch(()=>{});new Image().src='http://@H/b'</script>"},
    {"policy_free_frame",
     "<script>f=document.createElement('iframe');"
     "document.documentElement.append(f);"
     "f.contentWindow.fetch('http://@H/a')</script>"},
    {"view_source",
     "<script>location='view-source:http://@H/a'</script>",
     {.unheard = "the browser leads no page there"}},
    {"other_scheme",
     "<script>location='ftp://@H/a'</script>",
     {.unheard = "the browser knows no FTP any more"}},
    {"noscript_img", "<noscript><img src='http://@H/a'></noscript>"},
    {"noscript_refresh",
     "<noscript><meta http-equiv=refresh content='0;url=http://@H/a'></noscript>",
     {.past_policy = true}},
    {"svg_foreign_object",
     "<svg><foreignObject width=9 height=9><img src='http://@H/a'></foreignObject></svg>"},
    {"svg_foreign_object_in_picture",
     "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'>"
     "<foreignObject width='9' height='9'>"
     "<img xmlns='http://www.w3.org/1999/xhtml' src='http://@H/a'/></foreignObject></svg>\">",
     {.unheard = "what is within a picture fetches nothing"}},
    {"svg_set",
     "<svg><image width=9 height=9><set attributeName=href to='http://@H/a' /></image></svg>"},
    {"css_data_import", "<link rel=stylesheet href=\"data:text/css,@import url(http://@H/a)\">"},
    {"css_image_set", "<p style=\"background:image-set('http://@H/a' 1x)\">x"},
    {"input_image", "<input type=image src='http://@H/a'>"},
    {"body_background", "<body background='http://@H/a'>"},
    {"fetch_later",
     "<script>fetchLater('http://@H/a')</script>",
     {.unheard = "only in secure contexts"}},
    {"srcdoc_refresh",
     "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=http://@H/a'>\"></iframe>"},
};

std::string fill(std::string_view html, std::string_view host, unsigned short port) {
  const std::string address = fmt::format("{}:{}", host, port);
  std::string filled;
  for (std::size_t at = 0; at < html.size(); ++at) {
    if (html.substr(at, 2) == "@H") {
      filled += address;
      ++at;
    } else {
      filled += html[at];
    }
  }
  return filled;
}

std::string script(std::string_view text) { return fmt::format("<p>x<script>{}</script>", text); }

std::string many(std::string_view piece, std::size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

}  // namespace

std::span<const Way> calling_ways() { return kWays; }

HostilePage calling_page(const Way& way, std::string_view host, unsigned short port) {
  return {.name = fmt::format("{} {}", way.name, host),
          .html = "<!doctype html><p>text " + fill(way.html, host, port)};
}

bool acts(const Way& way, bool scripts) {
  if (way.html.contains("<noscript>")) return !scripts;
  return scripts || !(way.facts.with_scripts || way.html.contains("<script"));
}

std::vector<HostilePage> calling_pages(unsigned short port, bool scripts) {
  std::vector<HostilePage> pages;
  for (const std::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
    for (const auto& way : kWays) {
      if (acts(way, scripts)) pages.push_back(calling_page(way, host, port));
    }
  }
  return pages;
}

std::vector<HostilePage> reading_pages(const std::string& text_file, const std::string& svg_file) {
  std::vector<HostilePage> pages;
  for (const auto& file : {"file://" + text_file, "file://" + svg_file,
                           "file://localhost" + text_file, "view-source:file://" + text_file}) {
    for (const std::string_view html :
         {"<img src='@F'>", "<iframe src='@F' width=600 height=200></iframe>",
          "<object data='@F' width=600 height=200></object>", "<embed src='@F'>",
          "<svg width=300 height=99><image href='@F' width=300 height=99 /></svg>",
          "<svg width=300 height=99><use href='@F#a' /></svg>", "<link rel=stylesheet href='@F'>",
          "<style>@import url('@F');p::before{content:url('@F')}</style><p>x",
          "<meta http-equiv=refresh content='0;url=@F'>",
          "<script>fetch('@F').then(r=>r.text()).then(t=>document.body.append(t))</script>",
          "<script>x=new XMLHttpRequest;x.open('GET','@F',false);x.send();"
          "document.body.append(x.responseText)</script>",
          "<script src='@F'></script>", "<script>location='@F'</script>",
          "<script>w=open('@F');setTimeout(()=>document.body.append("
          "w.document.body.textContent))</script>",
          "<script>f=document.createElement('iframe');f.src='@F';document.body.append(f);"
          "f.onload=()=>document.body.append(f.contentDocument.body.textContent)</script>"}) {
      std::string filled;
      for (std::size_t at = 0; at < html.size(); ++at) {
        if (html.substr(at, 2) == "@F") {
          filled += file;
          ++at;
        } else {
          filled += html[at];
        }
      }
      pages.push_back({.name = filled, .html = "<!doctype html><body><p>text " + filled});
    }
  }
  return pages;
}

std::vector<HostilePage> greedy_pages() {
  return {
      {"endless loop", script("for(;;);")},
      {"endless loop late", script("onload=()=>{for(;;);}")},
      {"endless microtasks", script("f=()=>Promise.resolve().then(f);f()")},
      {"endless timers", script("f=()=>{setTimeout(f);setTimeout(f)};f()")},
      {"endless frames", script("f=()=>{requestAnimationFrame(f);for(i=0;i<1e7;++i);};f()")},
      {"endless mutation", script("new MutationObserver(()=>document.body.append('x'))"
                                  ".observe(document,{childList:true,subtree:true});"
                                  "document.body.append('y')")},
      {"recursion", script("f=()=>f();f()")},
      {"alert loop", script("for(;;)alert(1)")},
      {"confirm loop", script("while(!confirm('a'));")},
      {"prompt loop", script("while(!prompt('a'));")},
      {"before unload", script("onbeforeunload=()=>'stay'")},
      {"print loop", script("for(i=0;i<1e6;++i)print()")},
      {"print late", script("onload=()=>{for(i=0;i<100;++i)print()}")},
      {"after print loop", script("onafterprint=()=>{for(;;);}")},
      {"before print loop", script("onbeforeprint=()=>{for(;;);}")},
      {"history flood", script("for(i=0;;++i)history.pushState(0,'','#'+i)")},
      {"hash flood", script("for(i=0;i<1e5;++i)location.hash=i")},
      {"reload loop", script("location.reload()")},
      {"go to blank", script("location='about:blank'")},
      {"go to data", script("location='data:text/html,gone'")},
      {"go to blob", script("location=URL.createObjectURL(new Blob(['gone'],{type:'text/html'}))")},
      {"javascript url", script("location='javascript:for(;;);'")},
      {"go to chrome", script("location='chrome://gpukill'")},
      {"go to crash", script("location='chrome://crash'")},
      {"pop-ups", script("for(i=0;i<1000;++i)open('about:blank')")},
      {"close", script("close();window.close()")},
      {"stop", script("stop();document.open();")},
      {"no document", script("document.documentElement.remove()")},
      {"document replaced", script("document.open();document.write('gone');document.close()")},
      {"document never closed", script("document.open();document.write('x')")},
      {"stolen names", script("document.querySelectorAll=()=>{for(;;);};Promise=0;Array=0")},
      {"fonts never ready", script("Object.defineProperty(document,'fonts',{get(){for(;;);}})")},
      {"request flood", script("for(i=0;i<20000;++i)new Image().src='http://a.invalid/'+i")},
      {"request flood without policy",
       script("document.querySelector('meta[http-equiv]').remove();"
              "for(i=0;i<20000;++i)new Image().src='http://a.invalid/'+i")},
      {"long address", script("document.querySelector('meta[http-equiv]').remove();"
                              "fetch('http://a.invalid/'+'x'.repeat(3e7))")},
      {"long body", script("fetch('http://a.invalid/',{method:'POST',body:'x'.repeat(5e7)})")},
      {"console flood", script("for(;;)console.log('x'.repeat(1e5))")},
      {"memory in arrays", script("a=[];for(;;)a.push(new Array(1e6).fill(1.5))")},
      {"memory in buffers", script("a=[];for(;;)a.push(new Uint8Array(1e8).fill(1))")},
      {"memory in strings", script("a='x';for(;;)a+=a")},
      {"memory in nodes", script("for(;;)document.body.append('x'.repeat(1e6))")},
      {"memory in blobs", script("a=[];for(;;)a.push(new Blob(['x'.repeat(1e7)]))")},
      {"huge canvas", "<canvas id=c width=32767 height=8000></canvas>" +
                          script("c.getContext('2d').fillRect(0,0,32767,8000)")},
      {"many canvases", script("for(i=0;i<200;++i){c=document.createElement('canvas');"
                               "c.width=c.height=4000;c.getContext('2d').fillRect(0,0,9,9);"
                               "document.body.append(c)}")},
      {"huge table", "<table>" + many("<tr><td>a<td>b<td>c<td>d</tr>", 40000) + "</table>"},
      {"wide table", "<table><tr>" + many("<td>a", 20000) + "</table>"},
      {"tables in tables", many("<table><tr><td>", 800)},
      {"deep nesting", many("<div>", 30000) + "x"},
      {"deep flex", many("<div style='display:flex'>", 400) + "x"},
      {"deep grid", many("<div style='display:grid;grid-template-columns:1fr 1fr'>", 300) + "x"},
      {"columns in columns", many("<div style='columns:3'>", 12) + many("word ", 20000)},
      {"frames in frames",
       script("f=w=>{i=w.document.createElement('iframe');w.document.body.append(i);"
              "return i.contentWindow};w=window;for(n=0;n<200;++n)w=f(w)")},
      {"many frames", many("<iframe srcdoc='x'></iframe>", 500)},
      {"long word", "<p>" + many("x", 2000000)},
      {"long right-to-left word", "<p dir=rtl>" + many("\u05d0", 300000)},
      {"stacked accents", "<p>a" + many("\u0301", 200000)},
      {"many attributes", "<p " + many("a=b c ", 20000) + ">x"},
      {"long attribute", "<p title='" + many("x", 4000000) + "'>x"},
      {"endless animation",
       "<style>@keyframes a{to{width:1e6px}}p{animation:a 1ms infinite}"
       "</style><p>x"},
      {"endless height", "<div style='height:99999999px'>x</div>"},
      {"endless width", "<div style='width:99999999px;height:9px;background:red'>x</div>"},
      {"a million pages", many("<p style='break-after:page'>x", 60000)},
      {"blurs", many("<div style='filter:blur(90px);width:5000px;height:5000px'>x</div>", 30)},
      {"shadows", many("<p style='box-shadow:0 0 900px 900px red'>x", 300)},
      {"gradients", many("<p style='background:conic-gradient(red,blue,red)'>x", 5000)},
      {"svg bomb", "<svg><defs><g id=a><path d='M0 0h9'/></g><g id=b>" +
                       many("<use href='#a'/>", 30) + "</g><g id=c>" +
                       many("<use href='#b'/>", 30) + "</g><g id=d>" +
                       many("<use href='#c'/>", 30) + "</g></defs><use href='#d'/></svg>"},
      {"selector bomb",
       "<style>" + many(":is(div,p) :has(> :not(p)) ~ * :nth-child(2n of p){color:red}", 500) +
           "</style>" + many("<div><p>x</p></div>", 1000)},
      {"variable bomb",
       "<style>:root{--a0:xxxxxxxxxx;--a1:var(--a0)var(--a0)var(--a0)var(--a0);"
       "--a2:var(--a1)var(--a1)var(--a1)var(--a1);--a3:var(--a2)var(--a2)"
       "var(--a2)var(--a2);--a4:var(--a3)var(--a3)var(--a3)var(--a3)}"
       "p::after{content:var(--a4)}</style><p>x"},
      {"counter bomb", "<ol>" + many("<li>x", 60000) + "</ol>"},
      {"broken data images", many("<img src='data:image/png;base64,AAAA'>", 2000)},
      {"not utf-8", std::string("<p>\xff\xfe\x80 x ") + many("\xc3\x28", 10000)},
      {"zero bytes", std::string("<p>a\0b", 6) + many(std::string_view("\0", 1), 10000)},
      {"lone surrogates", script("alert('\\ud800');document.title='\\udfff'")},
      {"xml bomb in svg", "<svg><!DOCTYPE a [<!ENTITY b 'ccc'>]>&b;&b;</svg>"},
      {"busy wasm", script("new WebAssembly.Memory({initial:60000})")},
      {"shared memory", script("a=[];for(;;)a.push(new SharedArrayBuffer(1e8))")},
      {"storage", script("for(i=0;;++i)localStorage['k'+i]='x'.repeat(1e5)")},
      {"database", script("indexedDB.open('a').onsuccess=()=>{for(;;);}")},
      {"full screen", script("document.documentElement.requestFullscreen();for(;;)focus()")},
      {"file chooser", "<input type=file id=f>" + script("f.click();f.showPicker()")},
      {"devices", script("navigator.mediaDevices.getUserMedia({video:true,audio:true});"
                         "navigator.usb.requestDevice({filters:[]})")},
      {"downloads", script("a=document.createElement('a');a.download='x';"
                           "a.href='data:application/zip,x';for(i=0;i<100;++i)a.click()")},
      {"date picker", "<input type=date id=f>" + script("f.showPicker()")},
  };
}

}  // namespace millrace::render
