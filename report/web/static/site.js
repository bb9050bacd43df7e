// Hovering, zooming, live refresh, dragging runs to sides. Every page works
// without this file.
(function () {
  "use strict";
  document.documentElement.classList.add("scripted");

  var pictures = document.getElementById("pictures");
  var words = {};
  var lang = document.documentElement.lang;
  if (pictures) {
    try { words = JSON.parse(pictures.dataset.labels); } catch (e) { words = {}; }
    pictures.querySelectorAll("[data-hover]").forEach(hover);
  }
  live();
  sides();

  function number(v, digits) {
    return v.toLocaleString(lang, { maximumSignificantDigits: digits || 3, useGrouping: Math.abs(v) >= 10000 });
  }
  function micros(v) {
    if (v === null) { return "–"; }
    if (v >= 1e6) { return number(v / 1e6) + " s"; }
    if (v >= 1e3) { return number(v / 1e3) + " ms"; }
    return number(v) + " µs";
  }
  function rate(v) { return number(v) + "/s"; }

  // hover makes a picture answer to pointer and keys.
  function hover(box) {
    var stage = box.querySelector(".stage"), img = stage.querySelector("img");
    var readout = box.parentNode.querySelector(".readout");
    var data = null, asked = null, at = -1, from = null;
    var first = { src: img.getAttribute("src"), hover: box.dataset.hover };
    var cursor = mark("cursor"), chosen = mark("chosen");

    function mark(name) {
      var m = document.createElement("div");
      m.className = name;
      m.hidden = true;
      stage.appendChild(m);
      return m;
    }
    // load fetches the values once for each stretch that is shown.
    function load() {
      if (asked !== box.dataset.hover) {
        asked = box.dataset.hover;
        data = null;
        var mine = asked;
        fetch(asked, { headers: { Accept: "application/json" } }).then(function (r) {
          if (!r.ok) { throw new Error(r.status); }
          return r.json();
        }).then(function (d) { if (mine === asked) { data = d; } }).catch(function () { if (mine === asked) { asked = null; } });
      }
    }
    function area() { return data.areas[0]; }
    function shareOf(event) {
      var r = img.getBoundingClientRect();
      return { x: (event.clientX - r.left) / r.width, y: (event.clientY - r.top) / r.height };
    }
    function valueAt(share) {
      var a = area();
      return a.from + (share - a.left) / (a.right - a.left) * (a.to - a.from);
    }
    function shareAt(value) {
      var a = area();
      return a.left + (value - a.from) / (a.to - a.from) * (a.right - a.left);
    }
    function place(m, left, right) {
      var a = area(), b = data.areas[data.areas.length - 1];
      m.style.left = 100 * left + "%";
      m.style.top = 100 * a.top + "%";
      m.style.height = 100 * (b.bottom - a.top) + "%";
      if (right !== undefined) { m.style.width = 100 * (right - left) + "%"; }
      m.hidden = false;
    }
    function middle(m) { return m.start_s + m.width_s / 2; }
    function points() { return data.steps.length ? data.steps : data.moments; }
    function xOf(p) { return data.steps.length ? p.offered_rps : middle(p); }
    function nearest(value) {
      var best = -1, gap = Infinity;
      points().forEach(function (p, i) {
        var d = Math.abs(xOf(p) - value);
        if (d < gap) { best = i; gap = d; }
      });
      return best;
    }
    function show(i) {
      var p = points()[i];
      if (!p) { return; }
      at = i;
      place(cursor, shareAt(xOf(p)));
      readout.textContent = data.steps.length ? step(p) : moment(p);
    }
    function step(p) {
      var held = p.held === null ? "" : ", " + (p.held ? words.held : words.not_held);
      return words.plateau + " " + p.index + held + " – " + words.offered + " " + rate(p.offered_rps) + ", " + words.goodput + " " + rate(p.goodput_rps) +
        ", " + words.response + " p50 " + micros(p.response_p50_us) + ", p99 " + micros(p.response_p99_us) + ", " + words.service + " p99 " + micros(p.service_p99_us);
    }
    function moment(m) {
      var s = words.at + " " + number(m.start_s, 6) + " s";
      if (m.step >= 0) { s += ", " + words.plateau + " " + m.step; }
      if (m.intervals > 1) { s += " (" + m.intervals + " " + words.intervals + ")"; }
      s += " – " + words.offered + " " + rate(m.offered_rps) + ", " + words.goodput + " " + rate(m.goodput_rps);
      if (m.error_rps > 0) { s += ", " + words.errors + " " + rate(m.error_rps); }
      if (m.shed_rps > 0) { s += ", " + words.shed + " " + rate(m.shed_rps); }
      s += ", " + words.in_flight + " " + number(m.in_flight, 6);
      if (m.waiting > 0) { s += ", " + words.waiting + " " + number(m.waiting, 6); }
      return s + ", " + words.response + " p50 " + micros(m.response_p50_us) + ", p99 " + micros(m.response_p99_us) +
        ", " + words.service + " p99 " + micros(m.service_p99_us) + ", " + words.lag + " " + micros(m.lag_p99_us);
    }
    function open() {
      if (data && data.steps.length && at >= 0) { location.href = box.dataset.steps + data.steps[at].index; }
    }
    // zoom asks the server for a stretch; null is the whole run.
    function zoom(stretch) {
      var query = stretch ? "from=" + stretch[0].toFixed(3) + "&to=" + stretch[1].toFixed(3) : "";
      pictures.querySelectorAll("[data-zoom]").forEach(function (other) {
        other.dispatchEvent(new CustomEvent("stretch", { detail: query }));
      });
      var form = pictures.querySelector("form");
      if (form) {
        form.elements.from.value = stretch ? stretch[0].toFixed(3) : "";
        form.elements.to.value = stretch ? stretch[1].toFixed(3) : "";
      }
    }
    box.addEventListener("stretch", function (e) {
      function address(a) {
        var plain = a.replace(/([?&])(from|to)=[^&]*&?/g, "$1").replace(/[?&]+$/, "");
        return e.detail ? plain + (plain.indexOf("?") < 0 ? "?" : "&") + e.detail : plain;
      }
      img.src = address(first.src);
      box.dataset.hover = address(first.hover);
      cursor.hidden = chosen.hidden = true;
      at = -1;
      load();
    });

    box.addEventListener("pointerenter", load);
    box.addEventListener("focus", load);
    stage.addEventListener("pointermove", function (e) {
      load();
      if (!data || !points().length) { return; }
      var s = shareOf(e);
      if (from !== null) {
        place(chosen, Math.max(area().left, Math.min(from, s.x)), Math.min(area().right, Math.max(from, s.x)));
      }
      show(nearest(valueAt(s.x)));
    });
    stage.addEventListener("pointerleave", function () { cursor.hidden = true; });
    img.addEventListener("dragstart", function (e) { e.preventDefault(); });
    stage.addEventListener("pointerdown", function (e) {
      if (!data || e.button !== 0) { return; }
      if (box.dataset.zoom && e.pointerType !== "touch") {
        from = shareOf(e).x;
        stage.setPointerCapture(e.pointerId);
      }
    });
    stage.addEventListener("pointerup", function (e) {
      if (from === null || !data) { return; }
      var s = shareOf(e).x, a = Math.max(area().left, Math.min(from, s)), b = Math.min(area().right, Math.max(from, s));
      from = null;
      chosen.hidden = true;
      if (b - a > 0.01) { zoom([Math.max(0, valueAt(a)), valueAt(b)]); }
    });
    stage.addEventListener("click", function (e) {
      if (box.dataset.steps && data && data.steps.length) {
        show(nearest(valueAt(shareOf(e).x)));
        open();
      }
    });
    box.addEventListener("keydown", function (e) {
      load();
      if (e.key === "Escape" && box.dataset.zoom) { zoom(null); return; }
      if (!data || !points().length) { return; }
      var last = points().length - 1, order = points().map(function (p, i) { return i; });
      order.sort(function (a, b) { return xOf(points()[a]) - xOf(points()[b]); });
      var k = order.indexOf(at), to = -1;
      if (e.key === "ArrowRight") { to = Math.min(last, k + 1); }
      if (e.key === "ArrowLeft") { to = k < 0 ? last : Math.max(0, k - 1); }
      if (e.key === "Home") { to = 0; }
      if (e.key === "End") { to = last; }
      if (e.key === "Enter") { open(); }
      if (to >= 0) { e.preventDefault(); show(order[to]); }
    });
  }

  // live loads the changing part of the page again, once a second.
  function live() {
    var now = document.getElementById("now"), timeline = document.getElementById("live-timeline");
    if (!now) { return; }
    var ticks = 0;
    function again() {
      fetch(now.dataset.now).then(function (r) {
        var ended = r.headers.get("X-Ended");
        if (ended) { location.href = ended; return; }
        if (!r.ok) { setTimeout(again, 5000); return; }
        var picture = r.headers.get("X-Timeline");
        return r.text().then(function (html) {
          now.innerHTML = html;
          if (picture && ticks++ % 3 === 0) {
            var next = new Image();
            next.onload = function () { timeline.src = next.src; };
            next.src = picture;
          }
          setTimeout(again, 1000);
        });
      }).catch(function () { setTimeout(again, 5000); });
    }
    setTimeout(again, 1000);
  }

  // sides lets runs be dragged into the two sides of a comparison; the boxes
  // stay what is sent.
  function sides() {
    var form = document.querySelector(".sides");
    if (!form) { return; }
    var drops = form.querySelectorAll(".drop");
    function fill() {
      drops.forEach(function (drop) {
        var list = drop.querySelector("ul");
        list.textContent = "";
        form.querySelectorAll("input[name=" + drop.dataset.side + "]:checked").forEach(function (box) {
          var li = document.createElement("li");
          li.textContent = box.closest("tr").dataset.name;
          list.appendChild(li);
        });
      });
    }
    form.addEventListener("change", fill);
    form.querySelectorAll("tr[draggable]").forEach(function (row) {
      row.addEventListener("dragstart", function (e) { e.dataTransfer.setData("text/plain", row.dataset.run); });
    });
    drops.forEach(function (drop) {
      drop.addEventListener("dragover", function (e) { e.preventDefault(); drop.classList.add("over"); });
      drop.addEventListener("dragleave", function () { drop.classList.remove("over"); });
      drop.addEventListener("drop", function (e) {
        e.preventDefault();
        drop.classList.remove("over");
        var run = e.dataTransfer.getData("text/plain");
        form.querySelectorAll("tr[draggable]").forEach(function (row) {
          if (row.dataset.run === run) {
            row.querySelectorAll("input").forEach(function (box) { box.checked = box.name === drop.dataset.side; });
          }
        });
        fill();
      });
    });
    fill();
  }
})();
